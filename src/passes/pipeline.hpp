// The passes, in order.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuseline/graph.hpp"
#include "graph/target.hpp"

namespace fuseline {

struct PassOptions {
  std::vector<std::string> disabled_passes;
  std::optional<DType> low;            // the type that f32 is lowered to, see lower_precision
  std::vector<std::string> keep_fp32;  // nodes of the model that are not
};

// What passes see beside the graph.
struct PassContext {
  const Graph& source;  // before the first pass
  const PassOptions& options;
  const Target& target;
};

struct Pass {
  std::string_view name;
  Graph (*run)(const Graph&, const PassContext&);
};
std::span<const Pass> pass_table();

// Runs every pass that is not disabled, with the verifier between them. FUSELINE_DUMP names a
// folder for the graph's text after each pass. Unknown names are an Error that lists the known.
Graph run_passes(const Graph& graph, const PassOptions& options, const Target& target = {});

}  // namespace fuseline
