// Folding node by node, each through a graph of its own.
#include "passes/fold_constants.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "graph/node_label.hpp"
#include "passes/rewriter.hpp"

namespace fuseline {
namespace {

constexpr std::int64_t largest_result = 64 << 10;   // bytes
constexpr std::int64_t largest_operand = 16 << 20;  // bytes: evaluate is slow by design

bool all_constant(const Dims& dims) {
  return std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.is_constant(); });
}

std::int64_t bytes_of(const ValueType& type) {
  __int128 bytes = static_cast<__int128>(size_of(type.dtype));
  for (const Dim& dim : type.dims) {
    bytes *= dim.constant();
    if (bytes > largest_operand) return largest_operand + 1;
  }
  return static_cast<std::int64_t>(bytes);
}

bool is_foldable(const Graph& graph, const Node& node, const std::vector<bool>& constant) {
  if (node.op == OpCode::input || node.op == OpCode::constant) return false;
  if (node.op == OpCode::iota || node.op == OpCode::broadcast_to) return false;
  if (node.op == OpCode::late_size) return false;  // later sizes name it
  for (ValueId input : node.inputs)
    if (!constant[input] || bytes_of(graph.type(input)) > largest_operand) return false;
  for (const auto& [name, attribute] : node.attributes) {
    const auto* dims = std::get_if<Dims>(&attribute);
    if (dims && !all_constant(*dims)) return false;
  }
  const ValueType& type = graph.type(node.output);
  return all_constant(type.dims) && bytes_of(type) <= largest_result;
}

Tensor value_of(const Rewriter& rewriter, const Graph& constants, const Node& node) {
  Graph single;
  std::vector<Value> operands;
  for (ValueId input : node.inputs) {
    const Tensor& value = constants.node_of(rewriter[input]).attributes.tensor("value");
    operands.push_back(single.apply(OpCode::constant, {}, {{"value", value}}));
  }
  single.output("result", single.apply(node.op, operands, node.attributes));
  try {
    return evaluate(single, {})[0];
  } catch (const Error& error) {
    fail("{}: {}", node_label(node), error.what());
  }
}

}  // namespace

Graph fold_constants(const Graph& graph) {
  Rewriter rewriter(graph);
  std::vector<bool> constant(graph.value_count());
  for (const Node& node : graph.nodes()) {
    if (is_foldable(graph, node, constant)) {
      Tensor value = value_of(rewriter, rewriter.graph(), node);
      rewriter.replace(node.output,
                       rewriter.graph().apply(OpCode::constant, {}, {{"value", value}}).id());
      constant[node.output] = true;
    } else {
      rewriter.copy(node);
      constant[node.output] = node.op == OpCode::constant;
    }
  }
  return rewriter.finish();
}

}  // namespace fuseline
