// The list of passes, and running them.
#include "passes/pipeline.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "passes/block_channels.hpp"
#include "passes/dump.hpp"
#include "passes/eliminate_dead_code.hpp"
#include "passes/fold_constants.hpp"
#include "passes/lower_precision.hpp"
#include "passes/merge_common_subexpressions.hpp"

namespace fuseline {
namespace {

// A pass that looks at nothing but the graph.
template <Graph (*run)(const Graph&)>
Graph alone(const Graph& graph, const PassContext&) {
  return run(graph);
}

Graph with_precision(const Graph& graph, const PassContext& context) {
  const PassOptions& options = context.options;
  if (!options.low) return graph;
  return lower_precision(graph, *options.low, kept_in(graph, context.source, options.keep_fp32));
}

Graph with_blocks(const Graph& graph, const PassContext& context) {
  return context.target.library_calls ? block_channels(graph, context.target) : graph;
}

constexpr Pass passes[] = {
    {"lower_precision", with_precision},
    {"block_channels", with_blocks},
    {"fold_constants", alone<fold_constants>},
    {"merge_common_subexpressions", alone<merge_common_subexpressions>},
    {"eliminate_dead_code", alone<eliminate_dead_code>},
};

void check_disabled(const std::vector<std::string>& disabled) {
  for (const std::string& name : disabled) {
    auto same = [&](const Pass& pass) { return pass.name == name; };
    if (std::any_of(std::begin(passes), std::end(passes), same)) continue;
    std::string known;
    for (const Pass& pass : passes) known += (known.empty() ? "" : ", ") + std::string(pass.name);
    fail("no pass is named \"{}\"; the passes are: {}", name, known);
  }
}

// Past the first check a broken graph is the pass's fault, not the user's.
void verify_result(const Pass& pass, const Graph& graph) {
  try {
    verify(graph);
  } catch (const Error& error) {
    fail_internal(fmt::format("pass {} broke the graph: {}", pass.name, error.what()));
  }
}

}  // namespace

std::span<const Pass> pass_table() { return passes; }

Graph run_passes(const Graph& graph, const PassOptions& options, const Target& target) {
  const std::vector<std::string>& disabled = options.disabled_passes;
  check_disabled(disabled);
  check_kept(graph, options.keep_fp32);
  verify(graph);
  GraphDump dump;
  dump.write("input", graph);
  Graph current = graph;
  for (const Pass& pass : passes) {
    if (std::find(disabled.begin(), disabled.end(), pass.name) != disabled.end()) continue;
    current = pass.run(current, {graph, options, target});
    verify_result(pass, current);
    dump.write(pass.name, current);
  }
  return current;
}

}  // namespace fuseline
