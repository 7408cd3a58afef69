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
    take_scale_and_bias(call);
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

  // How many channels or columns the result has; 0 when that is not known.
  std::int64_t channels(const Node& n) const {
    if (n.op == OpCode::matmul) {
      const Dim& columns = dims(n.output).back();
      return columns.is_constant() ? columns.constant() : 0;
    }
    const Dims& w = dims(n.inputs[1]);
    Dim count = n.op == OpCode::conv ? w[0] : w[1] * n.attributes.integer("groups");
    return count.is_constant() ? count.constant() : 0;
  }

  // A constant with one number for each channel, or one for all.
  std::optional<std::vector<double>> by_channel(const Call& call, ValueId value) const {
    const Node& leaf = graph_.node_of(value);
    if (leaf.op != OpCode::constant) return std::nullopt;
    const Node& n = graph_.node_of(call.operation);
    const Dims &result = dims(call.output), &own = dims(value);
    if (own.size() > result.size()) return std::nullopt;
    bool blocked = n.attributes.integer_or("y_block", 0) > 0, varies = false;
    for (std::size_t back = 1; back <= own.size(); ++back) {
      std::size_t axis = result.size() - back;
      const Dim& size = own[own.size() - back];
      bool channel = n.op == OpCode::matmul ? back == 1 : axis == 1 || (blocked && back == 1);
      if (size == Dim(1)) continue;
      if (!channel || size != result[axis]) return std::nullopt;
      varies = true;
    }
    auto count = static_cast<std::size_t>(channels(n));
    const Tensor& tensor = leaf.attributes.tensor("value");
    auto width = static_cast<std::int64_t>(size_of(tensor.dtype()));
    // In blocks both axes vary, or only one of them, which is no list of channels.
    if (varies && tensor.size() < static_cast<std::int64_t>(count)) return std::nullopt;
    std::vector<double> numbers;
    for (std::size_t i = 0; i < count; ++i)
      numbers.push_back(
          load_number(tensor.as<char>() + (varies ? static_cast<std::int64_t>(i) * width : 0),
                      tensor.dtype())
              .d);
    return numbers;
  }

  // Follows additions and multiplications by constants, as a BatchNormalization is made of.
  void take_scale_and_bias(Call& call) const {
    const Node& operation = graph_.node_of(call.operation);
    auto count = static_cast<std::size_t>(channels(operation));
    bool can_scale = graph_.node_of(call.operands[1]).op == OpCode::constant;
    std::vector<double> scale(count, 1.0), bias(count, 0.0);
    bool scaled = false, shifted = false;
    while (auto user = count > 0 ? only_user(call.output) : std::nullopt) {
      const Node& n = graph_.node_of(*user);
      bool adds = n.op == OpCode::add || n.op == OpCode::sub;
      bool multiplies = n.op == OpCode::mul || n.op == OpCode::div;
      if (!adds && !(multiplies && can_scale)) break;
      bool first = n.inputs[0] == call.output;
      if (!first && (n.op == OpCode::sub || n.op == OpCode::div)) break;
      auto numbers = by_channel(call, n.inputs[first ? 1 : 0]);
      if (!numbers || dims(*user) != dims(call.output)) break;
      for (std::size_t i = 0; i < count; ++i) {
        double x = (*numbers)[i];
        if (adds) bias[i] += n.op == OpCode::add ? x : -x;
        double factor = n.op == OpCode::div ? 1 / x : x;
        if (multiplies) scale[i] *= factor, bias[i] *= factor;
      }
      scaled = scaled || multiplies;
      shifted = shifted || adds;
      append(call, *user);
    }
    if (scaled) call.epilogue.scale = scale;
    if (shifted) call.epilogue.bias = bias;
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
