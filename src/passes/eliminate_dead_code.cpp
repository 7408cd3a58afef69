// Marking from the outputs backwards.
#include "passes/eliminate_dead_code.hpp"

#include <map>

#include "graph/kernel_ops.hpp"
#include "passes/rewriter.hpp"

namespace fuseline {

Graph eliminate_dead_code(const Graph& graph) {
  std::vector<bool> needed(graph.value_count());
  for (const NamedValue& input : graph.inputs()) needed[input.value] = true;
  for (const NamedValue& output : graph.outputs()) needed[output.value] = true;
  std::map<std::string, ValueId> late_sizes;
  for (const Node& node : graph.nodes())
    if (node.op == OpCode::late_size)
      late_sizes[Dim::late(node.attributes.text("name")).to_string()] = node.output;
  for (std::size_t i = graph.nodes().size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    if (!needed[node.output]) continue;
    for (ValueId input : node.inputs) needed[input] = true;
    for (const std::string& name : late_names(graph, node)) needed[late_sizes.at(name)] = true;
  }
  Rewriter rewriter(graph);
  for (const Node& node : graph.nodes())
    if (needed[node.output]) rewriter.copy(node);
  return rewriter.finish();
}

}  // namespace fuseline
