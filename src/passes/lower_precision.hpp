// f32 values become bf16 or f16, where that is safe.
#pragma once

#include <string>
#include <vector>

#include "fuseline/graph.hpp"

namespace fuseline {

// Contractions take and make the lower type (their sums stay fp32), and so do the operations on
// their results. In f32 stay: inputs, outputs and explicit casts; reductions that add or multiply
// and what follows them element by element, up to the next contraction; positions (what indices are
// computed from, and what depends on no input); and the nodes that are `kept` by name.
Graph lower_precision(const Graph& graph, DType low, const std::vector<std::string>& kept);

// Error, with the names that may have been meant, when a name is that of no node of `graph`.
void check_kept(const Graph& graph, const std::vector<std::string>& kept);
// The same nodes by the names that they have in `later`, which passes made of `graph`: a node that
// was joined to one behind it has that one's name.
std::vector<std::string> kept_in(const Graph& later, const Graph& graph,
                                 const std::vector<std::string>& kept);

}  // namespace fuseline
