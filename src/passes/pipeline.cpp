// The passes, in order.
#include "passes/pipeline.hpp"

namespace fuseline {

Graph run_passes(const Graph& graph, const std::vector<std::string>&) { return graph; }

}  // namespace fuseline
