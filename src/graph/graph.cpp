// Graph and attributes: building and access.
#include "fuseline/graph.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

#include "base/fail.hpp"
#include "graph/op_table.hpp"

namespace fuseline {

const Attribute* Attributes::find(std::string_view name) const {
  for (const auto& [key, value] : items_)
    if (key == name) return &value;
  return nullptr;
}

void Attributes::set(std::string name, Attribute value) {
  for (auto& [key, old] : items_)
    if (key == name) {
      old = std::move(value);
      return;
    }
  items_.emplace_back(std::move(name), std::move(value));
}

namespace {

template <class T>
const T& typed(const Attributes& attributes, std::string_view name, const char* kind) {
  const Attribute* found = attributes.find(name);
  if (!found) fail("attribute {} is missing", name);
  const T* value = std::get_if<T>(found);
  if (!value) fail("attribute {}: {} is needed", name, kind);
  return *value;
}

void check_name(const Graph& graph, const std::string& name) {
  auto ok = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_.:/-").find(c) != std::string_view::npos;
  };
  if (name.empty() || !std::all_of(name.begin(), name.end(), ok))
    fail("name \"{}\": letters, digits, '_', '.', ':', '/' and '-' only, at least one", name);
  auto same = [&](const NamedValue& v) { return v.name == name; };
  if (std::any_of(graph.inputs().begin(), graph.inputs().end(), same) ||
      std::any_of(graph.outputs().begin(), graph.outputs().end(), same))
    fail("name \"{}\": the graph already has an input or output of this name", name);
}

Tensor copy_dense(const Tensor& tensor) {
  Tensor copy = Tensor::allocate(tensor.dtype(), tensor.shape());
  std::size_t width = size_of(tensor.dtype());
  Shape index(tensor.shape().size(), 0);
  auto* to = copy.as<char>();
  for (std::int64_t n = 0; n < tensor.size(); ++n, to += width) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * tensor.strides()[d];
    std::memcpy(to, tensor.as<const char>() + offset * static_cast<std::int64_t>(width), width);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < tensor.shape()[d]) break;
      index[d] = 0;
    }
  }
  return copy;
}

}  // namespace

std::int64_t Attributes::integer(std::string_view name) const {
  return typed<std::int64_t>(*this, name, "an integer");
}
std::int64_t Attributes::integer_or(std::string_view name, std::int64_t otherwise) const {
  return has(name) ? integer(name) : otherwise;
}
const std::string& Attributes::text(std::string_view name) const {
  return typed<std::string>(*this, name, "a text");
}
const std::vector<std::int64_t>& Attributes::integers(std::string_view name) const {
  return typed<std::vector<std::int64_t>>(*this, name, "a list of integers");
}
const Dims& Attributes::dims(std::string_view name) const {
  return typed<Dims>(*this, name, "a list of sizes");
}
DType Attributes::dtype(std::string_view name) const {
  return typed<DType>(*this, name, "an element type");
}
const Tensor& Attributes::tensor(std::string_view name) const {
  return typed<Tensor>(*this, name, "a tensor");
}

DType Value::dtype() const { return graph_->type(id_).dtype; }
const Dims& Value::dims() const { return graph_->type(id_).dims; }

Value Graph::input(std::string name, DType dtype, Dims dims) {
  check_name(*this, name);
  for (const Dim& dim : dims)
    if (dim.is_constant() && dim.constant() < 0)
      fail("input {}: negative size {}", name, dim.constant());
  Attributes attributes{{"name", name}, {"dtype", dtype}, {"dims", std::move(dims)}};
  Value value = apply(OpCode::input, {}, std::move(attributes));
  inputs_.push_back({std::move(name), value.id()});
  return value;
}

Value Graph::constant(const Tensor& tensor) {
  return apply(OpCode::constant, {}, {{"value", copy_dense(tensor)}});
}

Value Graph::constant(DType dtype, double value) {
  Tensor scalar = Tensor::allocate(dtype, {});
  if (!is_float(dtype)) {
    if (value != std::trunc(value))
      fail("constant {} of type {}: a whole number is needed", value, name_of(dtype));
    if (!(std::fabs(value) < 0x1p62))
      fail("constant {} is out of range for {}", value, name_of(dtype));
    return constant(dtype, static_cast<std::int64_t>(value));
  }
  Number number;
  number.d = value;
  store_number(scalar.data(), dtype, number);
  return apply(OpCode::constant, {}, {{"value", scalar}});
}

Value Graph::constant(DType dtype, std::int64_t value) {
  if (is_float(dtype)) return constant(dtype, static_cast<double>(value));
  Range range = full_range(dtype);
  if (value < range.low || value > range.high)
    fail("constant {} is out of range for {} [{}, {}]", value, name_of(dtype), range.low,
         range.high);
  Tensor scalar = Tensor::allocate(dtype, {});
  Number number;
  number.i = value;
  store_number(scalar.data(), dtype, number);
  return apply(OpCode::constant, {}, {{"value", scalar}});
}

void Graph::output(std::string name, Value value) {
  check_name(*this, name);
  require(&value.graph() == this, "output of another graph");
  outputs_.push_back({std::move(name), value.id()});
}

Value Graph::apply(OpCode op, const std::vector<Value>& inputs, Attributes attributes) {
  const OpInfo& row = info(op);
  auto given = static_cast<int>(inputs.size());
  if (given < row.least_operands || given > row.most_operands)
    fail("{}: {} operands given, it takes {}{}", row.name, given, row.least_operands,
         row.most_operands > row.least_operands ? " or more" : "");
  Node node{op, {}, std::move(attributes), static_cast<ValueId>(types_.size()), origin_};
  std::vector<ValueType> types;
  for (const Value& input : inputs) {
    if (&input.graph() != this) fail("{}: an operand belongs to another graph", row.name);
    node.inputs.push_back(input.id());
    types.push_back(types_[input.id()]);
  }
  types_.push_back(row.infer({row.name, types, node.attributes}));
  producer_.push_back(static_cast<NodeId>(nodes_.size()));
  nodes_.push_back(std::move(node));
  return Value(*this, nodes_.back().output);
}

}  // namespace fuseline
