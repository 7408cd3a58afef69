// The passes, in order.
#pragma once

#include <span>
#include <string_view>

#include "fuseline/graph.hpp"
#include "fuseline/program.hpp"
#include "graph/target.hpp"

namespace fuseline {

// What passes see beside the graph.
struct PassContext {
  const Graph& source;  // before the first pass
  const CompileOptions& options;
  const Target& target;
};

struct Pass {
  std::string_view name;
  Graph (*run)(const Graph&, const PassContext&);
};
std::span<const Pass> pass_table();

// Runs every pass that is not disabled, with the verifier between them. FUSELINE_DUMP names a
// folder for the graph's text after each pass. Unknown names are an Error that lists the known.
Graph run_passes(const Graph& graph, const CompileOptions& options, const Target& target = {});

}  // namespace fuseline
