// Type rules of the kernel group: order, prefixes, placing, late sizes.
#include "graph/kernel_ops.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "graph/structural.hpp"

namespace fuseline {
namespace {

void check_axis(const InferContext& c) {
  std::int64_t axis = c.attributes.integer("axis");
  std::size_t rank = c.inputs[0].dims.size();
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank))
    fail("{}: axis {} of a tensor with {} axes", c.op, axis, rank);
}

void check_type(const InferContext& c, std::size_t i, DType dtype, std::size_t rank,
                const char* what) {
  const ValueType& type = c.inputs[i];
  if (type.dtype != dtype || type.dims.size() != rank)
    fail("{}: {} {}{}; {} with {} axes is needed", c.op, what, name_of(type.dtype),
         to_string(type.dims), name_of(dtype), rank);
}

}  // namespace

std::optional<Intrinsic> combine_of(const Attributes& attributes) {
  const std::string& name = attributes.text("combine");
  if (name == "set") return std::nullopt;
  if (name == "add") return Intrinsic::add;
  if (name == "mul") return Intrinsic::mul;
  if (name == "min") return Intrinsic::min;
  if (name == "max") return Intrinsic::max;
  fail("combine \"{}\"; use set, add, mul, min or max", name);
}

AxisView::AxisView(const Shape& shape, std::size_t axis) : extent(shape[axis]) {
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (k != axis) (k < axis ? outer : inner) *= shape[k];
}

std::vector<std::string> late_names(const Graph& graph, const Node& node) {
  std::vector<std::string> found;
  auto collect = [&](const Dims& dims) {
    for (const Dim& dim : dims) {
      if (!dim.has(Dim::Kind::late)) continue;
      for (std::string& name : dim.names())
        if (name.starts_with("late(")) found.push_back(std::move(name));
    }
  };
  collect(graph.type(node.output).dims);
  for (const auto& [key, attribute] : node.attributes)
    if (const auto* dims = std::get_if<Dims>(&attribute)) collect(*dims);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

ValueType infer_sort_indices(const InferContext& c) {
  check_axis(c);
  return {DType::i64, c.inputs[0].dims};
}

ValueType infer_scan(const InferContext& c) {
  check_axis(c);
  if (is_bool(c.inputs[0].dtype)) fail("{}: operand of type bool; cast it", c.op);
  if (!combine_of(c.attributes)) fail("{}: combine \"set\"; use add, mul, min or max", c.op);
  return c.inputs[0];
}

ValueType infer_scatter(const InferContext& c) {
  const ValueType& data = c.inputs[0];
  check_type(c, 0, data.dtype, 2, "data");
  check_type(c, 1, DType::i64, 1, "indices");
  check_type(c, 2, data.dtype, 2, "updates");
  const ValueType &indices = c.inputs[1], &updates = c.inputs[2];
  if (updates.dims[0] != indices.dims[0] || updates.dims[1] != data.dims[1])
    fail("{}: {} indices and updates {} for data {}", c.op, indices.dims[0].to_string(),
         to_string(updates.dims), to_string(data.dims));
  if (combine_of(c.attributes) && is_bool(data.dtype))
    fail("{}: bool elements can only be set", c.op);
  return data;
}

ValueType infer_suppress(const InferContext& c) {
  check_type(c, 0, DType::f32, 3, "boxes");
  check_type(c, 1, DType::bool_, 2, "candidates");
  check_type(c, 2, DType::f32, 0, "the largest overlap");
  check_type(c, 3, DType::i64, 0, "the most boxes");
  const Dims& boxes = c.inputs[0].dims;
  if (boxes[2] != Dim(4) || Dims(boxes.begin(), boxes.end() - 1) != c.inputs[1].dims)
    fail("{}: boxes {} and candidates {}; [G,K,4] and [G,K] are needed", c.op, to_string(boxes),
         to_string(c.inputs[1].dims));
  return c.inputs[1];
}

ValueType infer_bit_cast(const InferContext& c) {
  DType to = c.attributes.dtype("to"), from = c.inputs[0].dtype;
  if (size_of(to) != size_of(from))
    fail("{}: {} has {} bytes, {} has {}", c.op, name_of(from), size_of(from), name_of(to),
         size_of(to));
  return {to, c.inputs[0].dims};
}

ValueType infer_late_size(const InferContext& c) {
  check_type(c, 0, DType::i64, 0, "a size");
  Dim::late(c.attributes.text("name"));  // refuses what is no name
  return c.inputs[0];
}

}  // namespace fuseline
