// evaluate_at: single elements, recursively and memoised.
#include <unordered_map>

#include "base/fail.hpp"
#include "graph/evaluate.hpp"
#include "graph/evaluate_node.hpp"
#include "graph/evaluate_source.hpp"
#include "graph/kernel_ops.hpp"
#include "graph/node_label.hpp"

namespace fuseline {
namespace {

class PointEvaluator {
 public:
  PointEvaluator(const Graph& graph, std::span<const NamedTensor> inputs)
      : graph_(graph), inputs_(inputs), bindings_(bind_sizes(graph, inputs)) {
    check_sizes(graph, bindings_);
    states_.resize(graph.value_count());
  }

  Bounded element(ValueId value, std::span<const std::int64_t> index) {
    State& state = state_of(value);
    if (state.stored) return Bounded::exactly(state.stored->at(index));
    if (state.empty) return Bounded::exactly({.bits = 0});
    std::int64_t position = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      require(index[axis] >= 0 && index[axis] < state.shape[axis],
              "an operation reads outside its operand");
      position = position * state.shape[axis] + index[axis];
    }
    if (auto known = state.known.find(position); known != state.known.end()) return known->second;
    Bounded result = state.program->at(Shape(index.begin(), index.end()));
    state.known.emplace(position, result);
    return result;
  }

  const Shape& shape(ValueId value) { return state_of(value).shape; }

 private:
  struct State {
    bool ready = false;
    bool empty = false;
    Shape shape;
    std::optional<ElementSource> stored;
    std::optional<NodeProgram<Bounded>> program;
    std::unordered_map<std::int64_t, Bounded> known;
  };

  State& state_of(ValueId value) {
    State& state = states_[value];
    if (state.ready) return state;
    const Node& node = graph_.node_of(value);
    state.ready = true;
    for (const std::string& name : late_names(graph_, node)) bind_late(name);
    if (!late_names(graph_, node).empty()) check_sizes(graph_, node, bindings_);
    state.shape = shape_of(graph_.type(value).dims, bindings_);
    state.empty = element_count(state.shape) == 0;
    if (node.op == OpCode::input) {
      state.stored.emplace(tensor_of(inputs_, node.attributes.text("name")));
    } else if (node.op == OpCode::constant) {
      state.stored.emplace(node.attributes.tensor("value"));
    } else {
      state.program.emplace(graph_, node, bindings_,
                            [this, &node](int operand, std::span<const std::int64_t> index) {
                              return element(node.inputs[static_cast<std::size_t>(operand)], index);
                            });
    }
    return state;
  }

  void bind_late(const std::string& name) {
    for (const Node& node : graph_.nodes()) {
      if (node.op != OpCode::late_size) continue;
      if (Dim::late(node.attributes.text("name")).to_string() != name) continue;
      std::int64_t size = element(node.output, {}).value.i;
      if (size < 0) fail("{}: size {}", node_label(node), size);
      bindings_[name] = size;
    }
  }

  const Graph& graph_;
  std::span<const NamedTensor> inputs_;
  DimBindings bindings_;
  std::vector<State> states_;
};

}  // namespace

std::vector<Bounded> evaluate_at(const Graph& graph, ValueId value, std::span<const Shape> indices,
                                 std::span<const NamedTensor> inputs) {
  PointEvaluator evaluator(graph, inputs);
  const Shape& shape = evaluator.shape(value);
  std::vector<Bounded> results;
  for (const Shape& index : indices) {
    bool inside = index.size() == shape.size();
    for (std::size_t axis = 0; inside && axis < shape.size(); ++axis)
      inside = index[axis] >= 0 && index[axis] < shape[axis];
    if (!inside) fail("evaluate_at: index {} of a value {}", to_string(index), to_string(shape));
    results.push_back(evaluator.element(value, index));
  }
  return results;
}

}  // namespace fuseline
