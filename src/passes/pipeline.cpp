// The list of passes, and running them.
#include "passes/pipeline.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "passes/block_channels.hpp"
#include "passes/dump.hpp"
#include "passes/eliminate_dead_code.hpp"
#include "passes/fold_constants.hpp"
#include "passes/merge_common_subexpressions.hpp"

namespace fuseline {
namespace {

constexpr Pass passes[] = {
    {"block_channels",
     [](const Graph& g, const Target& t) { return t.library_calls ? block_channels(g, t) : g; }},
    {"fold_constants", [](const Graph& g, const Target&) { return fold_constants(g); }},
    {"merge_common_subexpressions",
     [](const Graph& g, const Target&) { return merge_common_subexpressions(g); }},
    {"eliminate_dead_code", [](const Graph& g, const Target&) { return eliminate_dead_code(g); }},
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

Graph run_passes(const Graph& graph, const std::vector<std::string>& disabled,
                 const Target& target) {
  check_disabled(disabled);
  verify(graph);
  GraphDump dump;
  dump.write("input", graph);
  Graph current = graph;
  for (const Pass& pass : passes) {
    if (std::find(disabled.begin(), disabled.end(), pass.name) != disabled.end()) continue;
    current = pass.run(current, target);
    verify_result(pass, current);
    dump.write(pass.name, current);
  }
  return current;
}

}  // namespace fuseline
