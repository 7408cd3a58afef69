// Known values: constant folding on demand, sizes as Dims.
#include "onnx/known.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "graph/op_table.hpp"
#include "graph/scalar.hpp"

namespace fuseline::onnx {
namespace {

constexpr std::int64_t most_elements = 1 << 20;  // what decides shapes is small

bool is_constant(const Dims& dims) {
  return std::all_of(dims.begin(), dims.end(), [](const Dim& d) { return d.is_constant(); });
}

bool has_constant_attributes(const Node& node) {
  return std::all_of(node.attributes.begin(), node.attributes.end(), [](const auto& attribute) {
    const auto* dims = std::get_if<Dims>(&attribute.second);
    return !dims || is_constant(*dims);
  });
}

Number element(const Tensor& tensor, std::int64_t i) {
  auto width = static_cast<std::int64_t>(size_of(tensor.dtype()));
  return load_number(tensor.as<const char>() + i * width, tensor.dtype());
}

}  // namespace

std::optional<Tensor> Known::of_input(const Node& node) {
  const std::string& name = node.attributes.text("name");
  for (const auto& [key, tensor] : values_) {
    if (key != name) continue;
    if (!tensor.is_dense()) fail("input {} decides shapes: it must be dense", name);
    decided_.insert(name);
    return tensor;
  }
  return std::nullopt;
}

std::optional<Tensor> Known::compute(Value value, bool use_inputs) {
  auto& memo = memo_[use_inputs];
  if (auto found = memo.find(value.id()); found != memo.end()) return found->second;
  std::optional<Tensor> result = compute_node(value, use_inputs);
  return memo[value.id()] = result;
}

std::optional<Tensor> Known::compute_node(Value value, bool use_inputs) {
  const Node node = graph_.node_of(value.id());
  if (node.op == OpCode::constant) return node.attributes.tensor("value");
  if (node.op == OpCode::input) return use_inputs ? of_input(node) : std::nullopt;
  if (!is_constant(value.dims()) || !has_constant_attributes(node)) return std::nullopt;
  Dim count = product(value.dims());
  if (!count.is_constant() || count.constant() > most_elements) return std::nullopt;
  Graph single;
  std::vector<Value> operands;
  for (ValueId input : node.inputs) {
    auto known = compute(graph_.value(input), use_inputs);
    if (!known) return std::nullopt;
    operands.push_back(single.apply(OpCode::constant, {}, {{"value", *known}}));
  }
  single.output("result", single.apply(node.op, operands, node.attributes));
  return evaluate(single, {})[0];
}

std::optional<Tensor> Known::constant(Value value) { return compute(value, false); }

Tensor Known::tensor(Value value) {
  if (auto known = compute(value, false)) return *known;
  if (auto known = compute(value, true)) return *known;
  const Node& node = graph_.node_of(value.id());
  if (node.op == OpCode::input)
    fail("input {} decides shapes, so its value is needed when the model is read",
         node.attributes.text("name"));
  fail(
      "an operand that decides shapes is computed from data ({}); it must follow from constants, "
      "sizes or given inputs",
      name_of(node.op));
}

std::vector<std::int64_t> Known::integers(Value value) {
  Tensor known = tensor(value);
  if (is_float(known.dtype())) fail("whole numbers are needed, not {}", name_of(known.dtype()));
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < known.size(); ++i) result.push_back(element(known, i).i);
  return result;
}

std::vector<double> Known::numbers(Value value) {
  Tensor known = tensor(value);
  std::vector<double> result;
  for (std::int64_t i = 0; i < known.size(); ++i)
    result.push_back(convert(element(known, i), known.dtype(), DType::f64).d);
  return result;
}

// ---- sizes

Dims Known::open_dims(Value value) {
  if (auto sizes = symbolic(value, true)) return *sizes;
  return dims(value);
}

Dims Known::dims(Value value) {
  if (auto sizes = symbolic(value, false)) return *sizes;
  std::vector<std::int64_t> known = integers(value);
  return {known.begin(), known.end()};
}

namespace {

Dim select_dim(const Dim& condition, const Dim& a, const Dim& b) {
  if (condition.is_constant()) return condition.constant() ? a : b;
  return condition * a + (Dim(1) - condition) * b;
}

bool may_be_negative(const Dim& dim) { return dim.has(Dim::Kind::operand); }

std::optional<Dim> arithmetic(OpCode op, const Dim& a, const Dim& b) {
  bool divides = op == OpCode::div || op == OpCode::mod || op == OpCode::rem;
  if (divides && (may_be_negative(a) || may_be_negative(b))) return std::nullopt;
  switch (op) {
    case OpCode::add:
      return a + b;
    case OpCode::sub:
      return a - b;
    case OpCode::mul:
      return a * b;
    case OpCode::div:  // sizes are not negative, so rounding down is truncation
      return floor_div(a, b);
    case OpCode::mod:
    case OpCode::rem:
      return a - floor_div(a, b) * b;
    case OpCode::minimum:
      return min(a, b);
    case OpCode::maximum:
      return max(a, b);
    case OpCode::less:
      return less(a, b);
    case OpCode::greater:
      return less(b, a);
    case OpCode::equal:
      return equal(a, b);
    case OpCode::not_equal:
      return Dim(1) - equal(a, b);
    default:
      return std::nullopt;
  }
}

}  // namespace

// The elements of a list as sizes, where its input is open.
std::optional<Dims> Known::operands_of(const Node& node, const Dims& shape) const {
  const std::string& name = node.attributes.text("name");
  if (!open_.contains(name) || shape.size() > 1) return std::nullopt;
  Dims elements;
  for (std::int64_t i = 0; i < product(shape).constant(); ++i)
    elements.push_back(Dim::operand(name, static_cast<int>(i)));
  return elements;
}

std::optional<Dims> Known::symbolic(Value value, bool open) {
  const Node node = graph_.node_of(value.id());
  const Dims shape = value.dims();
  if (is_float(value.dtype()) || !is_constant(shape)) return std::nullopt;
  if (auto known = constant(value)) {
    Dims result;
    for (std::int64_t i = 0; i < known->size(); ++i) result.push_back(element(*known, i).i);
    return result;
  }
  if (node.op == OpCode::dim_value) return node.attributes.dims("dim");
  if (product(shape).constant() > 64) return std::nullopt;
  if (node.op == OpCode::input) return open ? operands_of(node, shape) : std::nullopt;
  if (info(node.op).group == OpGroup::elementwise) return symbolic_elementwise(node, shape, open);
  return symbolic_map(node, open);
}

// Operands of one element are repeated; anything else must have the result's shape.
std::optional<Dims> Known::symbolic_elementwise(const Node& node, const Dims& shape, bool open) {
  auto count = static_cast<std::size_t>(product(shape).constant());
  std::vector<Dims> operands;
  for (ValueId input : node.inputs) {
    auto known = symbolic(graph_.value(input), open);
    if (!known || (known->size() != count && known->size() != 1)) return std::nullopt;
    if (known->size() == 1) known->resize(count, Dims(*known)[0]);
    operands.push_back(*known);
  }
  Dims result;
  for (std::size_t i = 0; i < count; ++i) {
    if (node.op == OpCode::where) {
      result.push_back(select_dim(operands[0][i], operands[1][i], operands[2][i]));
      continue;
    }
    if (node.op == OpCode::neg) {
      result.push_back(Dim(0) - operands[0][i]);
      continue;
    }
    if (operands.size() != 2) return std::nullopt;
    auto one = arithmetic(node.op, operands[0][i], operands[1][i]);
    if (!one) return std::nullopt;
    result.push_back(*one);
  }
  return result;
}

std::optional<Dims> Known::symbolic_map(const Node& node, bool open) {
  auto operand = [&](std::size_t i) { return symbolic(graph_.value(node.inputs[i]), open); };
  const Dims& shape = graph_.type(node.output).dims;
  if (node.op == OpCode::concat && shape.size() == 1) {
    Dims all;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      auto part = operand(i);
      if (!part) return std::nullopt;
      all.insert(all.end(), part->begin(), part->end());
    }
    return all;
  }
  if (node.inputs.empty()) return std::nullopt;
  auto from = operand(0);
  if (!from) return std::nullopt;
  if (node.op == OpCode::reshape || node.op == OpCode::cast) return from;
  if (node.op == OpCode::reduce_prod && shape.empty()) return Dims{product(*from)};
  if (node.op == OpCode::broadcast_to && from->size() == 1)
    return Dims(static_cast<std::size_t>(product(shape).constant()), (*from)[0]);
  if (node.op == OpCode::slice && shape.size() == 1 && has_constant_attributes(node)) {
    Dims part;
    std::int64_t at = node.attributes.dims("starts")[0].constant();
    for (std::int64_t i = 0; i < shape[0].constant(); ++i) {
      if (at < 0 || at >= static_cast<std::int64_t>(from->size())) return std::nullopt;
      part.push_back((*from)[static_cast<std::size_t>(at)]);
      at += node.attributes.integers("steps")[0];
    }
    return part;
  }
  if (node.op == OpCode::gather && graph_.type(node.inputs[0]).dims.size() == 1) {
    auto picks = constant(graph_.value(node.inputs[1]));
    if (!picks) return std::nullopt;
    auto count = static_cast<std::int64_t>(from->size());
    Dims picked;
    for (std::int64_t i = 0; i < picks->size(); ++i) {
      std::int64_t at = element(*picks, i).i;
      if (at < 0) at += count;
      if (at < 0 || at >= count) return std::nullopt;
      picked.push_back((*from)[static_cast<std::size_t>(at)]);
    }
    return picked;
  }
  return std::nullopt;
}

}  // namespace fuseline::onnx
