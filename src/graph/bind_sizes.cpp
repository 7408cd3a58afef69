// Input tensors against declared inputs: names, types, ranks, and the values of sizes.
#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "base/fail.hpp"
#include "base/nearest.hpp"
#include "graph/check_sizes.hpp"
#include "graph/node_label.hpp"
#include "graph/scalar.hpp"

namespace fuseline {
namespace {

[[noreturn]] void fail_unknown_input(const Graph& graph, const std::string& name) {
  std::string closest;
  std::size_t least = std::max<std::size_t>(name.size() / 2, 2) + 1;
  for (const NamedValue& input : graph.inputs()) {
    std::size_t distance = edit_distance(name, input.name);
    if (distance < least) {
      least = distance;
      closest = input.name;
    }
  }
  if (!closest.empty()) fail("the graph has no input \"{}\"; did you mean \"{}\"?", name, closest);
  std::string known;
  for (const NamedValue& input : graph.inputs()) known += (known.empty() ? "" : ", ") + input.name;
  fail("the graph has no input \"{}\"; its inputs are: {}", name, known.empty() ? "none" : known);
}

void check_names(const Graph& graph, std::span<const NamedTensor> inputs) {
  std::set<std::string_view> given;
  for (const auto& [name, tensor] : inputs) {
    auto same = [&, &key = name](const NamedValue& v) { return v.name == key; };
    if (std::none_of(graph.inputs().begin(), graph.inputs().end(), same))
      fail_unknown_input(graph, name);
    if (!given.insert(name).second) fail("input {} is given twice", name);
  }
  for (const NamedValue& input : graph.inputs())
    if (!given.contains(input.name))
      fail("input {} is missing; give a tensor {}", input.name, type_text(graph.type(input.value)));
}

void check_type(const std::string& name, const ValueType& type, const Tensor& tensor) {
  if (tensor.dtype() != type.dtype)
    fail("input {}: element type {} received, {} expected", name, name_of(tensor.dtype()),
         name_of(type.dtype));
  if (tensor.shape().size() != type.dims.size())
    fail("input {}: shape {} with {} axes received, {} with {} axes expected", name,
         to_string(tensor.shape()), tensor.shape().size(), to_string(type.dims), type.dims.size());
  if (tensor.size() > 0 && !tensor.data()) fail("input {}: the tensor has no memory", name);
}

struct Binding {
  std::int64_t value;
  std::string input;  // where it was read
  std::size_t axis;
};
using Bindings = std::map<std::string, Binding, std::less<>>;

void bind_symbols(const std::string& name, const Dims& dims, const Shape& shape, Bindings& known) {
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (!dims[axis].is_symbol()) continue;
    std::string symbol = dims[axis].symbol_name();
    auto [found, added] = known.try_emplace(symbol, Binding{shape[axis], name, axis});
    if (!added && found->second.value != shape[axis])
      fail("input {}, axis {}: size {} received, {} expected ({} as in input {}, axis {})", name,
           axis, shape[axis], found->second.value, symbol, found->second.input, found->second.axis);
  }
}

void check_expressions(const std::string& name, const Dims& dims, const Shape& shape,
                       const DimBindings& bindings) {
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis].is_symbol()) continue;
    for (const std::string& part : dims[axis].names())
      if (!bindings.contains(part))
        fail("input {}, axis {}: {} of the size {} is given by no input", name, axis, part,
             dims[axis].to_string());
    std::int64_t expected = dims[axis].evaluate(bindings);
    if (shape[axis] == expected) continue;
    if (dims[axis].is_constant())
      fail("input {}, axis {}: size {} received, {} expected", name, axis, shape[axis], expected);
    fail("input {}, axis {}: size {} received, {} expected ({})", name, axis, shape[axis], expected,
         dims[axis].to_string());
  }
}

// "operand(input, position)", as Dim::names() tells it.
struct OperandName {
  std::string input;
  std::int64_t position = 0;
};
std::optional<OperandName> parse_operand(std::string_view text) {
  constexpr std::string_view head = "operand(";
  if (!text.starts_with(head)) return std::nullopt;
  std::size_t comma = text.find(", ");
  OperandName name{std::string(text.substr(head.size(), comma - head.size()))};
  std::from_chars(text.data() + comma + 2, text.data() + text.size(), name.position);
  return name;
}

void collect_operands(const Dims& dims, std::set<std::string>& found) {
  for (const Dim& dim : dims)
    if (dim.has(Dim::Kind::operand))
      for (std::string& name : dim.names())
        if (parse_operand(name)) found.insert(std::move(name));
}

std::set<std::string> operands_of(const Graph& graph) {
  std::set<std::string> found;
  auto may_be_operand = [&](const NamedValue& input) {
    const ValueType& type = graph.type(input.value);
    return is_integer(type.dtype) && type.dims.size() <= 1;
  };
  if (std::none_of(graph.inputs().begin(), graph.inputs().end(), may_be_operand)) return found;
  for (const Node& node : graph.nodes()) {
    collect_operands(graph.type(node.output).dims, found);
    for (const auto& [key, attribute] : node.attributes)
      if (const auto* dims = std::get_if<Dims>(&attribute)) collect_operands(*dims, found);
  }
  return found;
}

std::int64_t read_operand(const OperandName& operand, const Tensor& tensor) {
  const auto& [name, position] = operand;
  if (!is_integer(tensor.dtype()) || tensor.shape().size() > 1)
    fail("input {}: it decides sizes, so it must be a list of integers, not {}{}", name,
         name_of(tensor.dtype()), to_string(tensor.shape()));
  if (tensor.device().kind != DeviceKind::cpu)
    fail("input {}: it decides sizes, so it must be in host memory", name);
  if (position < 0 || position >= tensor.size())
    fail("input {}: {} elements received, element {} is needed as a size", name, tensor.size(),
         position);
  std::int64_t stride = tensor.shape().empty() ? 0 : tensor.strides()[0];
  auto width = static_cast<std::int64_t>(size_of(tensor.dtype()));
  Number value = load_number(tensor.as<const char>() + position * stride * width, tensor.dtype());
  if (tensor.dtype() == DType::u64 && value.i < 0)
    fail("input {}, element {}: {} is too large for a size", name, position, value.u);
  return value.i;
}

}  // namespace

const Tensor& tensor_of(std::span<const NamedTensor> inputs, std::string_view name) {
  for (const auto& [key, tensor] : inputs)
    if (key == name) return tensor;
  fail_internal("an input without a tensor");
}

std::set<std::string> operand_inputs(const Graph& graph) {
  std::set<std::string> inputs;
  for (const std::string& text : operands_of(graph)) inputs.insert(parse_operand(text)->input);
  return inputs;
}

DimBindings bind_sizes(const Graph& graph, std::span<const NamedTensor> inputs) {
  check_names(graph, inputs);
  Bindings symbols;
  for (const NamedValue& input : graph.inputs()) {
    const ValueType& type = graph.type(input.value);
    const Tensor& tensor = tensor_of(inputs, input.name);
    check_type(input.name, type, tensor);
    bind_symbols(input.name, type.dims, tensor.shape(), symbols);
  }
  DimBindings bindings;
  for (const auto& [name, binding] : symbols) bindings.emplace(name, binding.value);
  for (const std::string& text : operands_of(graph)) {
    OperandName operand = *parse_operand(text);
    auto same = [&](const NamedTensor& given) { return given.first == operand.input; };
    auto given = std::find_if(inputs.begin(), inputs.end(), same);
    if (given == inputs.end()) fail("size {}: the graph has no input {}", text, operand.input);
    bindings.emplace(text, read_operand(operand, given->second));
  }
  for (const NamedValue& input : graph.inputs())
    check_expressions(input.name, graph.type(input.value).dims,
                      tensor_of(inputs, input.name).shape(), bindings);
  return bindings;
}

}  // namespace fuseline
