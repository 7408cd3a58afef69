// Values that depend on nothing but constants become constants.
#pragma once

#include "fuseline/graph.hpp"

namespace fuseline {

// Computed by evaluate, so folding never changes a bit. Results above 64 KiB stay computed, and so
// do iota and broadcasts: made on the fly they cost less than reading them.
Graph fold_constants(const Graph& graph);

}  // namespace fuseline
