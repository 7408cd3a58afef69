// The passes, in order.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuseline/graph.hpp"
#include "graph/target.hpp"

namespace fuseline {

struct Pass {
  std::string_view name;
  Graph (*run)(const Graph&, const Target&);
};
std::span<const Pass> pass_table();

// Runs every pass that is not disabled, with the verifier between them. FUSELINE_DUMP names a
// folder for the graph's text after each pass. Unknown names are an Error that lists the known.
Graph run_passes(const Graph& graph, const std::vector<std::string>& disabled,
                 const Target& target = {});

}  // namespace fuseline
