// Contractions and the chain of bias and activation behind them.
#include "fuse/find_calls.hpp"

#include <algorithm>
#include <optional>

#include "graph/op_table.hpp"

namespace fuseline {
namespace {

constexpr std::size_t most_spatial_axes = 3;
constexpr std::size_t most_axes = 6;

class CallFinder {
 public:
  CallFinder(const Graph& graph, const PartitionOptions& options,
             const std::vector<std::vector<ValueId>>& consumers)
      : graph_(graph), options_(options), consumers_(consumers) {
    for (const NamedValue& output : graph.outputs()) outputs_.push_back(output.value);
  }

  std::optional<Call> find(const Node& n) const {
    if (!is_callable(n)) return std::nullopt;
    Call call{n.output, n.output, n.inputs, {}, {n.output}, {}};
    // Parity rounds after the sum, fusion off stores it.
    if (!options_.fuse || options_.parity) return call;
    take_bias(call);
    take_activation(call);
    return call;
  }

 private:
  const Dims& dims(ValueId value) const { return graph_.type(value).dims; }

  bool is_callable(const Node& n) const {
    DType dtype = graph_.type(n.output).dtype;
    const auto& types = options_.call_types;
    if (std::find(types.begin(), types.end(), dtype) == types.end()) return false;
    if (n.op == OpCode::matmul) return dims(n.output).size() <= most_axes;
    if (n.op != OpCode::conv && n.op != OpCode::conv_transpose) return false;
    // A padding that may be negative would cut the operand.
    for (const Dim& before : n.attributes.dims("before"))
      if (before.is_constant() && before.constant() < 0) return false;
    return n.attributes.dims("dims").size() <= most_spatial_axes;
  }

  // The one value that is made of `value`, if it need not be stored itself.
  std::optional<ValueId> only_user(ValueId value) const {
    if (std::find(outputs_.begin(), outputs_.end(), value) != outputs_.end()) return std::nullopt;
    if (consumers_[value].size() != 1) return std::nullopt;
    return consumers_[value][0];
  }

  void append(Call& call, ValueId value) const {
    call.output = value;
    call.operations.push_back(value);
  }

  // Sizes of one except where a result of this operation has its channels or columns.
  bool is_bias(const Call& call, ValueId value) const {
    const Node& leaf = graph_.node_of(value);
    if (leaf.op != OpCode::constant || dims(value).empty()) return false;
    const Node& n = graph_.node_of(call.operation);
    const Dims &result = dims(call.output), &own = dims(value);
    if (own.size() > result.size()) return false;
    bool blocked = n.attributes.integer_or("y_block", 0) > 0;
    for (std::size_t back = 1; back <= result.size(); ++back) {
      std::size_t axis = result.size() - back;
      Dim size = back <= own.size() ? own[own.size() - back] : Dim(1);
      bool channel = n.op == OpCode::matmul ? back == 1 : axis == 1 || (blocked && back == 1);
      if (size != (channel ? result[axis] : Dim(1))) return false;
    }
    return true;
  }

  void take_bias(Call& call) const {
    auto user = only_user(call.output);
    if (!user || graph_.node_of(*user).op != OpCode::add) return;
    const auto& inputs = graph_.node_of(*user).inputs;
    ValueId other = inputs[0] == call.output ? inputs[1] : inputs[0];
    if (!is_bias(call, other) || dims(*user) != dims(call.output)) return;
    call.operands.push_back(other);
    call.epilogue.bias = true;
    append(call, *user);
  }

  void take_activation(Call& call) const {
    auto user = only_user(call.output);
    if (!user) return;
    const Node& n = graph_.node_of(*user);
    if (n.op == OpCode::leaky_relu) {
      const Node& slope = graph_.node_of(n.inputs[1]);
      if (slope.op != OpCode::constant || !dims(n.inputs[1]).empty()) return;
      const Tensor& tensor = slope.attributes.tensor("value");
      call.epilogue.slope = load_number(tensor.data(), tensor.dtype()).d;
    } else if (n.op != OpCode::relu) {
      return;
    }
    call.epilogue.leaky_relu = true;
    append(call, *user);
  }

  const Graph& graph_;
  const PartitionOptions& options_;
  const std::vector<std::vector<ValueId>>& consumers_;
  std::vector<ValueId> outputs_;
};

}  // namespace

std::map<ValueId, Call> find_calls(const Graph& graph, const PartitionOptions& options,
                                   const std::vector<std::vector<ValueId>>& consumers) {
  std::map<ValueId, Call> calls;
  if (options.call_types.empty()) return calls;
  CallFinder finder(graph, options, consumers);
  for (const Node& n : graph.nodes())
    if (auto call = finder.find(n)) calls.emplace(call->output, std::move(*call));
  return calls;
}

}  // namespace fuseline
