// The passes, in order.
#pragma once

#include <string>
#include <vector>

#include "fuseline/graph.hpp"

namespace fuseline {

// Runs every pass that is not disabled, with the verifier between them. FUSELINE_DUMP names a
// folder for the graph's text after each pass. Unknown names are an Error that lists the known.
Graph run_passes(const Graph& graph, const std::vector<std::string>& disabled);

}  // namespace fuseline
