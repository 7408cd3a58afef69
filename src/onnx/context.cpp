// Attributes and operands of a node, and what converters share.
#include "onnx/context.hpp"

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"

namespace fuseline::onnx {
namespace {

enum AttributeType {
  real_ = 1,
  integer_ = 2,
  text_ = 3,
  tensor_ = 4,
  graph_ = 5,
  reals_ = 6,
  integers_ = 7,
  texts_ = 8
};

std::string joined(std::initializer_list<std::string_view> words) {
  std::string text;
  for (std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

}  // namespace

const Operand& Context::operand(std::size_t i) const {
  if (!has(i)) fail("operand {} is missing", i);
  return *operands[i];
}

const AttributeProto* Context::typed(std::string_view name, int type, const char* what) const {
  const AttributeProto* a = find(name);
  if (a && a->type != 0 && a->type != type) fail("attribute {}: {} is needed", name, what);
  return a;
}

std::int64_t Context::integer(std::string_view name, std::int64_t otherwise) const {
  const AttributeProto* a = typed(name, integer_, "a whole number");
  return a ? a->i : otherwise;
}
std::int64_t Context::integer(std::string_view name) const {
  if (!has_attribute(name)) fail("attribute {} is missing", name);
  return integer(name, 0);
}
double Context::real(std::string_view name, double otherwise) const {
  const AttributeProto* a = typed(name, real_, "a number");
  return a ? static_cast<double>(a->f) : otherwise;
}
std::string Context::text(std::string_view name, std::string_view otherwise) const {
  const AttributeProto* a = typed(name, text_, "a text");
  return std::string(a ? a->s : otherwise);
}
std::string Context::choice(std::string_view name, std::string_view otherwise,
                            std::initializer_list<std::string_view> choices) const {
  std::string given = text(name, otherwise);
  if (std::find(choices.begin(), choices.end(), given) == choices.end())
    fail("attribute {}: \"{}\"; use one of: {}", name, given, joined(choices));
  return given;
}
std::vector<std::int64_t> Context::integer_list(std::string_view name) const {
  const AttributeProto* a = typed(name, integers_, "a list of whole numbers");
  return a ? a->ints : std::vector<std::int64_t>{};
}
std::vector<double> Context::real_list(std::string_view name) const {
  const AttributeProto* a = typed(name, reals_, "a list of numbers");
  return a ? std::vector<double>(a->floats.begin(), a->floats.end()) : std::vector<double>{};
}
std::vector<std::string> Context::text_list(std::string_view name) const {
  const AttributeProto* a = typed(name, texts_, "a list of texts");
  return a ? std::vector<std::string>(a->strings.begin(), a->strings.end())
           : std::vector<std::string>{};
}
const GraphProto& Context::graph_attribute(std::string_view name) const {
  const AttributeProto* a = typed(name, graph_, "a graph");
  if (!a || !a->g) fail("attribute {}: a graph is needed", name);
  return *a->g;
}
Tensor Context::tensor_attribute(std::string_view name) const {
  const AttributeProto* a = typed(name, tensor_, "a tensor");
  if (!a || !a->t) fail("attribute {}: a tensor is needed", name);
  return read_tensor(*a->t);
}

void Context::out(std::size_t i, Value value, int type) {
  if (results.size() <= i) results.resize(i + 1);
  results[i] = Operand{value, type};
}

// ---- helpers

Value number(Graph& graph, DType dtype, double value) { return graph.constant(dtype, value); }
Value number(const Value& like, double value) { return number(like.graph(), like.dtype(), value); }

Value integer_constant(Graph& graph, const std::vector<std::int64_t>& values, Shape shape) {
  Tensor tensor = Tensor::allocate(DType::i64, std::move(shape));
  require(tensor.size() == static_cast<std::int64_t>(values.size()), "one number an element");
  if (!values.empty()) std::memcpy(tensor.data(), values.data(), values.size() * sizeof(values[0]));
  return graph.apply(OpCode::constant, {}, {{"value", tensor}});
}

Value dims_value(Graph& graph, const Dims& dims) {
  bool constant =
      std::all_of(dims.begin(), dims.end(), [](const Dim& d) { return d.is_constant(); });
  if (constant) {
    std::vector<std::int64_t> values;
    for (const Dim& dim : dims) values.push_back(dim.constant());
    return integer_constant(graph, values, {static_cast<std::int64_t>(values.size())});
  }
  std::vector<Value> parts;
  for (const Dim& dim : dims) parts.push_back(reshape(dim_value(graph, dim), {1}));
  return parts.size() == 1 ? parts[0] : concat(parts, 0);
}

std::size_t absolute_axis(std::int64_t axis, std::size_t rank) {
  auto n = static_cast<std::int64_t>(rank);
  if (axis < -n || axis >= n) fail("axis {} of a tensor with {} axes", axis, rank);
  return static_cast<std::size_t>(axis < 0 ? axis + n : axis);
}

std::vector<std::int64_t> absolute_axes(std::vector<std::int64_t> axes, std::size_t rank) {
  for (auto& axis : axes) axis = static_cast<std::int64_t>(absolute_axis(axis, rank));
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) fail("an axis is given twice");
  return axes;
}

Value unsqueeze(const Value& x, std::vector<std::int64_t> axes) {
  std::size_t rank = x.dims().size() + axes.size();
  axes = absolute_axes(std::move(axes), rank);
  Dims dims;
  auto next = x.dims().begin();
  for (std::size_t k = 0; k < rank; ++k) {
    bool added = std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(k));
    dims.push_back(added ? Dim(1) : *next++);
  }
  return reshape(x, dims);
}

Value squeeze(const Value& x, const std::vector<std::int64_t>& axes) {
  std::vector<std::int64_t> gone = absolute_axes(axes, x.dims().size());
  Dims dims;
  for (std::size_t k = 0; k < x.dims().size(); ++k)
    if (!std::binary_search(gone.begin(), gone.end(), static_cast<std::int64_t>(k)))
      dims.push_back(x.dims()[k]);
  return reshape(x, dims);
}

Dims broadcast_dims(const Dims& a, const Dims& b) {
  std::size_t rank = std::max(a.size(), b.size());
  Dims result;
  for (std::size_t k = 0; k < rank; ++k) {
    Dim x = k + a.size() >= rank ? a[k + a.size() - rank] : Dim(1);
    Dim y = k + b.size() >= rank ? b[k + b.size() - rank] : Dim(1);
    if (x != y && x != Dim(1) && y != Dim(1))
      fail("shapes {} and {} cannot be broadcast", to_string(a), to_string(b));
    result.push_back(x == Dim(1) ? y : x);
  }
  return result;
}

Value broadcast_both(const Value& x, const Dims& shape) {
  Dims dims = broadcast_dims(x.dims(), shape);
  return dims == x.dims() ? x : broadcast_to(x, dims);
}

Dim product(const Dims& dims, std::size_t first, std::size_t last) {
  Dim all = 1;
  for (std::size_t k = first; k < last; ++k) all = all * dims[k];
  return all;
}

DType wide_type(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

Dims replaced(Dims dims, std::size_t axis, Dim size) {
  dims[axis] = std::move(size);
  return dims;
}

Value part(const Value& x, std::size_t axis, const Dim& start, const Dim& size) {
  Dims starts(x.dims().size(), Dim(0));
  starts[axis] = start;
  return slice(x, starts, replaced(x.dims(), axis, size));
}

}  // namespace fuseline::onnx
