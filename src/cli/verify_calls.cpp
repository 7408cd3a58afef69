// Checking library calls by evaluate_at.
#include "cli/verify_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "graph/evaluate.hpp"
#include "passes/pipeline.hpp"

namespace fuseline::cli {
namespace {

constexpr int sampled = 128;  // points a call, beside the corners
constexpr std::int64_t most_bytes_at_once = std::int64_t{1} << 30;

// One call cut out of the program's graph.
struct Cut {
  std::string name;
  std::vector<ValueId> values;    // computed inside, ascending
  std::vector<ValueId> operands;  // in the program's graph, leaves included
  ValueId result = 0;
};

bool is_leaf(const Graph& graph, ValueId value) {
  OpCode op = graph.node_of(value).op;
  return op == OpCode::input || op == OpCode::constant;
}

std::vector<Cut> calls_of(const Program& program) {
  std::vector<ValueId> written = program.stored();
  std::set<ValueId> stored(written.begin(), written.end());
  std::vector<Cut> cuts;
  for (const KernelReport& report : program.report()) {
    if (!report.is_call) continue;
    Cut cut{fmt::format("{}", fmt::join(report.origins, " + ")), report.values, {}, 0};
    if (cut.name.empty()) cut.name = report.name;
    std::sort(cut.values.begin(), cut.values.end());
    std::set<ValueId> operands;
    for (ValueId value : cut.values) {
      if (stored.contains(value)) cut.result = value;
      for (ValueId input : program.graph().node_of(value).inputs)
        if (!std::binary_search(cut.values.begin(), cut.values.end(), input))
          operands.insert(input);
    }
    cut.operands.assign(operands.begin(), operands.end());
    cuts.push_back(std::move(cut));
  }
  return cuts;
}

// Corners first, then a sample.
std::vector<Shape> points_of(const Shape& shape, std::mt19937_64& random) {
  std::vector<Shape> points;
  if (element_count(shape) == 0) return points;
  std::size_t corners = std::size_t{1} << std::min<std::size_t>(shape.size(), 6);
  for (std::size_t corner = 0; corner < corners; ++corner) {
    Shape point(shape.size(), 0);
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (corner >> axis & 1) point[axis] = shape[axis] - 1;
    points.push_back(std::move(point));
  }
  for (int i = 0; i < sampled; ++i) {
    Shape point;
    for (std::int64_t extent : shape)
      point.push_back(std::uniform_int_distribution<std::int64_t>(0, extent - 1)(random));
    points.push_back(std::move(point));
  }
  return points;
}

Number element(const Tensor& tensor, const Shape& index) {
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis)
    offset += index[axis] * tensor.strides()[axis];
  auto width = static_cast<std::int64_t>(size_of(tensor.dtype()));
  return load_number(tensor.as<const char>() + offset * width, tensor.dtype());
}

class CallChecker {
 public:
  CallChecker(const Program& program, const TensorMap& inputs, const CompileOptions& options,
              std::uint64_t seed)
      : graph_(program.graph()), inputs_(inputs), options_(options), random_(seed) {
    for (const Pass& pass : pass_table()) options_.disabled_passes.emplace_back(pass.name);
    sizes_ = bind_sizes(graph_, inputs_);
  }

  std::vector<CallCheck> run(const std::vector<Cut>& cuts) {
    std::vector<CallCheck> checks;
    for (std::size_t first = 0; first < cuts.size();) {
      std::size_t last = first;
      std::set<ValueId> wanted;
      for (std::int64_t bytes = 0; last < cuts.size(); ++last) {
        for (ValueId value : values_of(cuts[last]))
          if (wanted.insert(value).second) bytes += bytes_of(value);
        if (bytes > most_bytes_at_once) {
          ++last;
          break;
        }
      }
      std::map<ValueId, Tensor> tensors = values(wanted);
      for (; first < last; ++first) checks.push_back(check(cuts[first], tensors));
    }
    return checks;
  }

 private:
  std::vector<ValueId> values_of(const Cut& cut) const {
    std::vector<ValueId> values = {cut.result};
    for (ValueId operand : cut.operands)
      if (!is_leaf(graph_, operand)) values.push_back(operand);
    return values;
  }

  std::int64_t bytes_of(ValueId value) const {
    const ValueType& type = graph_.type(value);
    return element_count(shape_of(type.dims, sizes_)) *
           static_cast<std::int64_t>(size_of(type.dtype));
  }

  // What the program makes of these values. They are stored in any case, so making them outputs
  // leaves the calls as they are.
  std::map<ValueId, Tensor> values(const std::set<ValueId>& wanted) const {
    Graph graph = graph_;
    std::size_t first = graph.outputs().size();
    for (ValueId value : wanted)
      graph.output(fmt::format("call:{}:{}", value, first), graph.value(value));
    std::vector<Tensor> made = compile(graph, options_).run(inputs_);
    std::map<ValueId, Tensor> tensors;
    for (ValueId value : wanted) tensors[value] = made[first++];
    return tensors;
  }

  Tensor operand(ValueId value, const std::map<ValueId, Tensor>& tensors) const {
    const Node& node = graph_.node_of(value);
    if (node.op == OpCode::constant) return node.attributes.tensor("value");
    if (node.op == OpCode::input) return tensor_of(inputs_, node.attributes.text("name"));
    return tensors.at(value);
  }

  CallCheck check(const Cut& cut, const std::map<ValueId, Tensor>& tensors) {
    Graph alone;
    std::map<ValueId, ValueId> made;
    TensorMap given;
    for (ValueId value : cut.operands) {
      Tensor tensor = operand(value, tensors);
      std::string name = fmt::format("operand{}", given.size());
      Dims dims(tensor.shape().begin(), tensor.shape().end());
      made[value] = alone.input(name, tensor.dtype(), dims).id();
      given.emplace_back(name, tensor);
    }
    for (ValueId value : cut.values) copy(alone, made, graph_.node_of(value));
    alone.output("result", alone.value(made.at(cut.result)));
    const Tensor& actual = tensors.at(cut.result);
    std::vector<Shape> points = points_of(actual.shape(), random_);
    std::vector<Bounded> expected = evaluate_at(alone, made.at(cut.result), points, given);
    CallCheck result{cut.name, static_cast<std::int64_t>(points.size()), 0, {}};
    for (std::size_t i = 0; i < points.size(); ++i) {
      Number number = element(actual, points[i]);
      if (is_allowed(number, expected[i], actual.dtype()) || result.wrong++ > 0) continue;
      result.first =
          fmt::format("{} at {} instead of {}", number_text(number, actual.dtype()),
                      to_string(points[i]), number_text(expected[i].value, actual.dtype()));
    }
    return result;
  }

  // With the numbers behind the sizes: symbols mean nothing there.
  void copy(Graph& alone, std::map<ValueId, ValueId>& made, const Node& node) const {
    std::vector<Value> operands;
    for (ValueId input : node.inputs) operands.push_back(alone.value(made.at(input)));
    Attributes attributes = node.attributes;
    for (const auto& [name, attribute] : node.attributes)
      if (const auto* dims = std::get_if<Dims>(&attribute)) {
        Dims numbers;
        for (const Dim& dim : *dims) numbers.push_back(dim.evaluate(sizes_));
        attributes.set(name, numbers);
      }
    made[node.output] = alone.apply(node.op, operands, attributes).id();
  }

  static std::string number_text(Number number, DType dtype) {
    return is_float(dtype) ? fmt::format("{:g}", number.d) : std::to_string(number.i);
  }

  const Graph& graph_;
  const TensorMap& inputs_;
  CompileOptions options_;
  std::mt19937_64 random_;
  DimBindings sizes_;
};

}  // namespace

std::vector<CallCheck> check_calls(const Program& program, const TensorMap& inputs,
                                   const CompileOptions& options, std::uint64_t seed) {
  std::vector<Cut> cuts = calls_of(program);
  if (cuts.empty()) return {};
  return CallChecker(program, inputs, options, seed).run(cuts);
}

}  // namespace fuseline::cli
