// Leaves, casts and index maps: type rules and pull rules.
#include "graph/structural.hpp"

#include <algorithm>
#include <optional>

#include "base/fail.hpp"
#include "graph/scalar_ops.hpp"

namespace fuseline {
namespace {

using namespace scalar_ops;

Scalar at(PullContext& c, ScalarId id) { return {c.dag, id}; }
Scalar size(PullContext& c, const Dim& dim) { return {c.dag, c.dag.dim(dim)}; }

Scalar clamp_index(Scalar index, Scalar extent) {
  return max(min(index, extent - 1), 0);  // 0 last: an empty axis reads element 0 of a dummy
}

// Remainder with the sign of the divisor.
Scalar floor_mod(Scalar a, Scalar b) {
  Scalar r = a % b;
  return select(r < 0, r + b, r);
}

std::size_t axis_of(const InferContext& c, std::size_t rank) {
  std::int64_t axis = c.attributes.integer("axis");
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank))
    fail("{}: axis {} of a tensor with {} axes", c.op, axis, rank);
  return static_cast<std::size_t>(axis);
}

void check_sizes_not_negative(const InferContext& c, const Dims& dims) {
  for (const Dim& dim : dims)
    if (dim.is_constant() && dim.constant() < 0) fail("{}: negative size {}", c.op, dim.constant());
}

}  // namespace

ValueType infer_input(const InferContext& c) {
  return {c.attributes.dtype("dtype"), c.attributes.dims("dims")};
}
ScalarId pull_input(PullContext&, std::span<const ScalarId>) {
  fail_internal("an input has no formula");
}

ValueType infer_constant(const InferContext& c) {
  const Tensor& value = c.attributes.tensor("value");
  return {value.dtype(), Dims(value.shape().begin(), value.shape().end())};
}
ScalarId pull_constant(PullContext&, std::span<const ScalarId>) {
  fail_internal("a constant has no formula");
}

ValueType infer_dim_value(const InferContext& c) {
  if (c.attributes.dims("dim").size() != 1) fail("dim_value: exactly one size is needed");
  return {DType::i64, {}};
}
ScalarId pull_dim_value(PullContext& c, std::span<const ScalarId>) {
  return c.dag.dim(c.node.attributes.dims("dim")[0]);
}

ValueType infer_iota(const InferContext& c) {
  const Dims& dims = c.attributes.dims("dims");
  check_sizes_not_negative(c, dims);
  axis_of(c, dims.size());
  DType to = c.attributes.dtype("to");
  if (is_bool(to)) fail("iota: bool has no coordinates");
  return {to, dims};
}
ScalarId pull_iota(PullContext& c, std::span<const ScalarId> index) {
  auto axis = static_cast<std::size_t>(c.node.attributes.integer("axis"));
  return c.dag.cast(c.result().dtype, index[axis]);
}

ValueType infer_cast(const InferContext& c) {
  const std::string& rounding = c.attributes.text("rounding");
  if (rounding != "trunc" && rounding != "nearest")
    fail("cast: rounding \"{}\"; use trunc or nearest", rounding);
  return {c.attributes.dtype("to"), c.inputs[0].dims};
}
ScalarId pull_cast(PullContext& c, std::span<const ScalarId> index) {
  Scalar x = at(c, c.read(0, {index.begin(), index.end()}));
  DType to = c.result().dtype;
  if (is_float(x.dtype()) && is_integer(to) && c.node.attributes.text("rounding") == "nearest")
    x = rint(x);
  bool saturate = c.node.attributes.integer_or("saturate", 0) != 0;
  if (saturate && is_integer(x.dtype()) && is_integer(to)) {
    // Only limits that the source type can hold can be exceeded by it.
    Range from = full_range(x.dtype()), target = full_range(to);
    if (target.low > from.low) x = max(x, Scalar(c.dag, c.dag.integer(x.dtype(), target.low)));
    if (target.high < from.high) x = min(x, Scalar(c.dag, c.dag.integer(x.dtype(), target.high)));
  }
  return c.dag.cast(to, x.id());
}

ValueType infer_reshape(const InferContext& c) {
  const Dims& dims = c.attributes.dims("dims");
  check_sizes_not_negative(c, dims);
  Dim before = product(c.inputs[0].dims), after = product(dims);
  if (before.is_constant() && after.is_constant() && before != after)
    fail("reshape: {} has {} elements, {} has {}", to_string(c.inputs[0].dims), before.constant(),
         to_string(dims), after.constant());
  return {c.inputs[0].dtype, dims};
}

namespace {

// Corresponding runs of axes: from[a0, a1) and to[b0, b1) have the same number of elements.
struct AxisGroup {
  std::size_t a0, a1, b0, b1;
};

// The shortest next pair of runs with symbolically equal products; the rest if there is none.
AxisGroup next_group(const Dims& from, const Dims& to, std::size_t a0, std::size_t b0) {
  for (std::size_t total = 1; total <= from.size() - a0 + to.size() - b0; ++total)
    for (std::size_t a = 0; a <= std::min(total, from.size() - a0); ++a) {
      std::size_t b = total - a;
      if (b > to.size() - b0) continue;
      Dim left =
          product({from.begin() + static_cast<long>(a0), from.begin() + static_cast<long>(a0 + a)});
      Dim right =
          product({to.begin() + static_cast<long>(b0), to.begin() + static_cast<long>(b0 + b)});
      if (left == right) return {a0, a0 + a, b0, b0 + b};
    }
  return {a0, from.size(), b0, to.size()};
}

}  // namespace

ScalarId pull_reshape(PullContext& c, std::span<const ScalarId> index) {
  const Dims& from = c.operand(0).dims;
  const Dims& to = c.result().dims;
  std::vector<ScalarId> own(from.size());
  for (std::size_t a = 0, b = 0; a < from.size() || b < to.size();) {
    AxisGroup g = next_group(from, to, a, b);
    Scalar linear(c.dag, c.dag.integer(DType::i64, 0));
    for (std::size_t k = g.b0; k < g.b1; ++k)
      linear = g.b1 - g.b0 == 1 ? at(c, index[k]) : linear * size(c, to[k]) + at(c, index[k]);
    for (std::size_t k = g.a1; k-- > g.a0;) {
      if (from[k] == Dim(1)) {
        own[k] = c.dag.integer(DType::i64, 0);
        continue;
      }
      bool outermost = k == g.a0;
      own[k] = outermost ? linear.id() : (linear % size(c, from[k])).id();
      if (!outermost) linear = linear / size(c, from[k]);
    }
    a = g.a1;
    b = g.b1;
  }
  return c.read(0, std::move(own));
}

ValueType infer_transpose(const InferContext& c) {
  const auto& perm = c.attributes.integers("perm");
  const Dims& dims = c.inputs[0].dims;
  std::vector<bool> used(dims.size());
  Dims result;
  for (std::int64_t axis : perm) {
    bool ok = axis >= 0 && axis < static_cast<std::int64_t>(dims.size()) &&
              !used[static_cast<std::size_t>(axis)];
    if (!ok || perm.size() != dims.size())
      fail("transpose: perm must name each of the {} axes once", dims.size());
    used[static_cast<std::size_t>(axis)] = true;
    result.push_back(dims[static_cast<std::size_t>(axis)]);
  }
  if (perm.size() != dims.size())
    fail("transpose: perm must name each of the {} axes once", dims.size());
  return {c.inputs[0].dtype, result};
}
ScalarId pull_transpose(PullContext& c, std::span<const ScalarId> index) {
  const auto& perm = c.node.attributes.integers("perm");
  std::vector<ScalarId> own(perm.size());
  for (std::size_t k = 0; k < perm.size(); ++k) own[static_cast<std::size_t>(perm[k])] = index[k];
  return c.read(0, std::move(own));
}

ValueType infer_broadcast_to(const InferContext& c) {
  const Dims& to = c.attributes.dims("dims");
  const Dims& from = c.inputs[0].dims;
  check_sizes_not_negative(c, to);
  if (to.size() < from.size())
    fail("broadcast_to: {} cannot become {}", to_string(from), to_string(to));
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Dim& wide = to[to.size() - from.size() + i];
    if (from[i] != wide && from[i] != Dim(1))
      fail("broadcast_to: {} cannot become {}", to_string(from), to_string(to));
  }
  return {c.inputs[0].dtype, to};
}
ScalarId pull_broadcast_to(PullContext& c, std::span<const ScalarId> index) {
  const Dims& from = c.operand(0).dims;
  std::size_t lead = index.size() - from.size();
  std::vector<ScalarId> own;
  for (std::size_t k = 0; k < from.size(); ++k)
    own.push_back(from[k] == Dim(1) ? c.dag.integer(DType::i64, 0) : index[lead + k]);
  return c.read(0, std::move(own));
}

ValueType infer_slice(const InferContext& c) {
  const Dims& starts = c.attributes.dims("starts");
  const Dims& sizes = c.attributes.dims("dims");
  const auto& steps = c.attributes.integers("steps");
  std::size_t rank = c.inputs[0].dims.size();
  if (starts.size() != rank || sizes.size() != rank || steps.size() != rank)
    fail("slice: starts, dims and steps need one entry for each of the {} axes", rank);
  for (std::int64_t step : steps)
    if (step == 0) fail("slice: a step of 0 repeats one element; use broadcast_to");
  check_sizes_not_negative(c, sizes);
  return {c.inputs[0].dtype, sizes};
}
ScalarId pull_slice(PullContext& c, std::span<const ScalarId> index) {
  const Dims& starts = c.node.attributes.dims("starts");
  const auto& steps = c.node.attributes.integers("steps");
  std::vector<ScalarId> own;
  for (std::size_t k = 0; k < index.size(); ++k)
    own.push_back((at(c, index[k]) * static_cast<double>(steps[k]) + size(c, starts[k])).id());
  return c.read(0, std::move(own));
}

ValueType infer_concat(const InferContext& c) {
  ValueType result = c.inputs[0];
  std::size_t axis = axis_of(c, result.dims.size());
  for (std::size_t i = 1; i < c.inputs.size(); ++i) {
    const ValueType& part = c.inputs[i];
    bool same = part.dtype == result.dtype && part.dims.size() == result.dims.size();
    for (std::size_t k = 0; same && k < part.dims.size(); ++k)
      same = k == axis || part.dims[k] == result.dims[k];
    if (!same)
      fail("concat along axis {}: {} {} does not continue {} {}", axis, name_of(part.dtype),
           to_string(part.dims), name_of(c.inputs[0].dtype), to_string(c.inputs[0].dims));
    result.dims[axis] = result.dims[axis] + part.dims[axis];
  }
  return result;
}
ScalarId pull_concat(PullContext& c, std::span<const ScalarId> index) {
  auto axis = static_cast<std::size_t>(c.node.attributes.integer("axis"));
  auto parts = static_cast<int>(c.node.inputs.size());
  std::vector<Dim> begin = {0};
  for (int i = 0; i < parts; ++i) begin.push_back(begin.back() + c.operand(i).dims[axis]);
  std::optional<Scalar> result;
  for (int i = parts; i-- > 0;) {
    std::vector<ScalarId> own(index.begin(), index.end());
    Scalar local = at(c, index[axis]) - size(c, begin[static_cast<std::size_t>(i)]);
    if (parts > 1) local = clamp_index(local, size(c, c.operand(i).dims[axis]));
    own[axis] = local.id();
    Scalar element = at(c, c.read(i, std::move(own)));
    Scalar end = size(c, begin[static_cast<std::size_t>(i) + 1]);
    result = result ? select(at(c, index[axis]) < end, element, *result) : element;
  }
  return result->id();
}

ValueType infer_pad(const InferContext& c) {
  const Dims& before = c.attributes.dims("before");
  const Dims& after = c.attributes.dims("after");
  const std::string& mode = c.attributes.text("mode");
  ValueType result = c.inputs[0];
  if (before.size() != result.dims.size() || after.size() != result.dims.size())
    fail("pad: before and after need one entry for each of the {} axes", result.dims.size());
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
    fail("pad: mode \"{}\"; use constant, edge, reflect or wrap", mode);
  if (c.inputs[1].dtype != result.dtype || !c.inputs[1].dims.empty())
    fail("pad: the value must be a scalar of type {}", name_of(result.dtype));
  for (std::size_t k = 0; k < before.size(); ++k)
    result.dims[k] = result.dims[k] + before[k] + after[k];
  check_sizes_not_negative(c, result.dims);
  return result;
}

namespace {

Scalar reflect(Scalar i, Scalar extent) {
  Scalar period = max((extent - 1) * 2, 1);
  Scalar j = floor_mod(i, period);
  return min(j, period - j);
}

}  // namespace

ScalarId pull_pad(PullContext& c, std::span<const ScalarId> index) {
  const Dims& before = c.node.attributes.dims("before");
  const Dims& after = c.node.attributes.dims("after");
  const std::string& mode = c.node.attributes.text("mode");
  std::vector<ScalarId> own;
  std::optional<Scalar> inside;
  for (std::size_t k = 0; k < index.size(); ++k) {
    if (before[k] == Dim(0) && after[k] == Dim(0)) {
      own.push_back(index[k]);
      continue;
    }
    Scalar extent = size(c, c.operand(0).dims[k]);
    Scalar i = at(c, index[k]) - size(c, before[k]);
    if (mode == "constant") {
      Scalar here = (i >= 0) & (i < extent);
      inside = inside ? *inside & here : here;
    }
    if (mode == "reflect")
      i = extent.id() == c.dag.integer(DType::i64, 1) ? i.like(0) : reflect(i, extent);
    if (mode == "wrap") i = floor_mod(i, max(extent, 1));
    own.push_back(clamp_index(i, extent).id());
  }
  Scalar element = at(c, c.read(0, std::move(own)));
  if (!inside) return element.id();
  return select(*inside, element, at(c, c.read(1, {}))).id();
}

ValueType infer_gather(const InferContext& c) {
  const ValueType& data = c.inputs[0];
  const ValueType& indices = c.inputs[1];
  if (!is_integer(indices.dtype))
    fail("gather: indices of type {}, integers are needed", name_of(indices.dtype));
  std::size_t axis = axis_of(c, data.dims.size());
  Dims dims(data.dims.begin(), data.dims.begin() + static_cast<long>(axis));
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), data.dims.begin() + static_cast<long>(axis) + 1, data.dims.end());
  return {data.dtype, dims};
}
ScalarId pull_gather(PullContext& c, std::span<const ScalarId> index) {
  auto axis = static_cast<long>(c.node.attributes.integer("axis"));
  auto picked = static_cast<long>(c.operand(1).dims.size());
  auto first = index.begin() + axis;
  Scalar i = at(c, c.dag.cast(DType::i64, c.read(1, {first, first + picked})));
  Scalar extent = size(c, c.operand(0).dims[static_cast<std::size_t>(axis)]);
  i = clamp_index(select(i < 0, i + extent, i), extent);
  std::vector<ScalarId> own(index.begin(), first);
  own.push_back(i.id());
  own.insert(own.end(), first + picked, index.end());
  return c.read(0, std::move(own));
}

}  // namespace fuseline
