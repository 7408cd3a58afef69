// Equal operations on equal operands are computed once.
#pragma once

#include "fuseline/graph.hpp"

namespace fuseline {

// Operands keep their order: a + b and b + a differ in the NaN that they hand on.
Graph merge_common_subexpressions(const Graph& graph);

}  // namespace fuseline
