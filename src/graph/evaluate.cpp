// evaluate: the whole graph, node after node, by plain loops.
#include "graph/evaluate.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "graph/evaluate_node.hpp"
#include "graph/evaluate_source.hpp"
#include "graph/kernel_ops.hpp"
#include "graph/node_label.hpp"

namespace fuseline {
namespace {

bool is_leaf(const Node& node) { return node.op == OpCode::input || node.op == OpCode::constant; }

class Evaluator {
 public:
  Evaluator(const Graph& graph, std::span<const NamedTensor> inputs)
      : graph_(graph), inputs_(inputs), bindings_(bind_sizes(graph, inputs)) {
    check_sizes(graph, bindings_);
    values_.resize(graph.value_count());
  }

  void run(const Node& node, bool bounded) {
    Evaluated& value = values_[node.output];
    if (!late_names(graph_, node).empty()) check_sizes(graph_, node, bindings_);
    if (node.op == OpCode::input) {
      value.value = tensor_of(inputs_, node.attributes.text("name"));
    } else if (node.op == OpCode::constant) {
      value.value = node.attributes.tensor("value");
    } else {
      value.value = Tensor::allocate(graph_.type(node.output).dtype,
                                     shape_of(graph_.type(node.output).dims, bindings_));
      if (bounded && !stays_exact(node))
        fill_bounded(node, value);
      else
        fill_plain(node, value);
    }
    if (node.op == OpCode::late_size) bind_late(node, value.value);
  }

  std::vector<Evaluated>& values() { return values_; }

 private:
  void bind_late(const Node& node, const Tensor& value) {
    std::int64_t size = value.as<std::int64_t>()[0];
    if (size < 0) fail("{}: size {}", node_label(node), size);
    bindings_[Dim::late(node.attributes.text("name")).to_string()] = size;
  }

  std::vector<ElementSource> sources(const Node& node) const {
    std::vector<ElementSource> result;
    for (ValueId input : node.inputs) result.emplace_back(values_[input].value);
    return result;
  }

  NodeProgram<Number> plain_program(const Node& node) const {
    auto read = [from = sources(node)](int operand, std::span<const std::int64_t> index) {
      return from[static_cast<std::size_t>(operand)].at(index);
    };
    return {graph_, node, bindings_, read};
  }

  bool stays_exact(const Node& node) const {
    auto exact = [&](ValueId input) { return values_[input].elements.empty(); };
    return std::all_of(node.inputs.begin(), node.inputs.end(), exact) &&
           plain_program(node).keeps_exactness();
  }

  void fill_plain(const Node& node, Evaluated& result) const {
    DType dtype = result.value.dtype();
    auto* to = result.value.as<char>();
    plain_program(node).run(result.value.shape(), [&](const Number& element) {
      store_number(to, dtype, element);
      to += size_of(dtype);
    });
  }

  void fill_bounded(const Node& node, Evaluated& result) const {
    auto read = [this, &node, from = sources(node)](int operand,
                                                    std::span<const std::int64_t> index) {
      auto i = static_cast<std::size_t>(operand);
      const std::vector<Bounded>& elements = values_[node.inputs[i]].elements;
      if (elements.empty() || from[i].empty()) return Bounded::exactly(from[i].at(index));
      return elements[static_cast<std::size_t>(from[i].position(index))];
    };
    DType dtype = result.value.dtype();
    auto* to = result.value.as<char>();
    bool exact = true;
    NodeProgram<Bounded> program(graph_, node, bindings_, read);
    program.run(result.value.shape(), [&](const Bounded& element) {
      store_number(to, dtype, element.value);
      to += size_of(dtype);
      exact = exact && element.is_exact();
      result.elements.push_back(element);
    });
    if (exact) result.elements = {};
  }

  const Graph& graph_;
  std::span<const NamedTensor> inputs_;
  DimBindings bindings_;
  std::vector<Evaluated> values_;
};

// A copy where the tensor is someone else's memory or not dense.
Tensor own_dense(const Tensor& tensor) {
  Tensor copy = Tensor::allocate(tensor.dtype(), tensor.shape());
  ElementSource source(tensor);
  Shape index(tensor.shape().size(), 0);
  auto* to = copy.as<char>();
  for (std::int64_t n = tensor.size(); n > 0; --n, to += size_of(tensor.dtype())) {
    store_number(to, tensor.dtype(), source.at(index));
    advance(index, tensor.shape());
  }
  return copy;
}

}  // namespace

std::vector<Tensor> evaluate(const Graph& graph, const std::vector<NamedTensor>& inputs) {
  Evaluator evaluator(graph, inputs);
  std::vector<Evaluated>& values = evaluator.values();
  std::vector<std::size_t> users(graph.value_count());
  for (const Node& node : graph.nodes())
    for (ValueId input : node.inputs) ++users[input];
  for (const NamedValue& output : graph.outputs()) ++users[output.value];
  for (const Node& node : graph.nodes()) {
    bool needed = users[node.output] > 0 || node.op == OpCode::late_size;
    if (needed) evaluator.run(node, false);
    for (ValueId input : node.inputs)
      if (--users[input] == 0) values[input] = {};
  }
  std::vector<Tensor> outputs;
  std::vector<bool> given(graph.value_count());
  for (const NamedValue& output : graph.outputs()) {
    // Outputs alias neither inputs nor each other.
    bool shared = is_leaf(graph.node_of(output.value)) || given[output.value];
    const Tensor& value = values[output.value].value;
    outputs.push_back(shared ? own_dense(value) : value);
    given[output.value] = true;
  }
  return outputs;
}

std::vector<Tensor> evaluate_all(const Graph& graph, std::span<const NamedTensor> inputs) {
  Evaluator evaluator(graph, inputs);
  for (const Node& node : graph.nodes()) evaluator.run(node, false);
  std::vector<Tensor> values;
  for (Evaluated& value : evaluator.values()) values.push_back(std::move(value.value));
  return values;
}

std::vector<Evaluated> evaluate_bounded(const Graph& graph, std::span<const NamedTensor> inputs) {
  Evaluator evaluator(graph, inputs);
  for (const Node& node : graph.nodes()) evaluator.run(node, true);
  return std::move(evaluator.values());
}

}  // namespace fuseline
