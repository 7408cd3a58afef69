// Nodes that no output needs are dropped.
#pragma once

#include "fuseline/graph.hpp"

namespace fuseline {

// Inputs stay, used or not: callers give them by name.
Graph eliminate_dead_code(const Graph& graph);

}  // namespace fuseline
