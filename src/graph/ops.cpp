// The builder: attributes and compositions behind the functions of ops.hpp.
#include "fuseline/ops.hpp"

#include "base/fail.hpp"
#include "graph/op_table.hpp"

namespace fuseline {
namespace detail {

Value operand(const Value& like, double number) {
  return like.graph().constant(like.dtype(), number);
}
Value operand(const Value& like, std::int64_t number) {
  return like.graph().constant(like.dtype(), number);
}
Value elementwise(OpCode op, const std::vector<Value>& operands) {
  return operands[0].graph().apply(op, operands);
}

}  // namespace detail

namespace {

std::int64_t absolute_axis(const Value& x, std::int64_t axis) {
  auto rank = static_cast<std::int64_t>(x.dims().size());
  if (axis < -rank || axis >= rank) fail("axis {} of a tensor with {} axes", axis, rank);
  return axis < 0 ? axis + rank : axis;
}

Value reduce(OpCode op, const Value& x, std::vector<std::int64_t> axes, bool keepdims) {
  for (auto& axis : axes) axis = absolute_axis(x, axis);
  return x.graph().apply(op, {x},
                         {{"axes", std::move(axes)}, {"keepdims", std::int64_t{keepdims}}});
}

// To its own type a value is what it was.
Value cast_with(const Value& x, DType to, Rounding rounding, bool saturate) {
  if (x.dtype() == to) return x;
  std::string name = rounding == Rounding::nearest ? "nearest" : "trunc";
  return x.graph().apply(OpCode::cast, {x},
                         {{"to", to}, {"rounding", name}, {"saturate", std::int64_t{saturate}}});
}

}  // namespace

Value cast(Value x, DType to, Rounding rounding) { return cast_with(x, to, rounding, false); }
Value saturate_cast(Value x, DType to, Rounding rounding) {
  return cast_with(x, to, rounding, true);
}

Value reshape(Value x, Dims dims) {
  return x.graph().apply(OpCode::reshape, {x}, {{"dims", std::move(dims)}});
}
Value transpose(Value x, std::vector<std::int64_t> perm) {
  for (auto& axis : perm) axis = absolute_axis(x, axis);
  return x.graph().apply(OpCode::transpose, {x}, {{"perm", std::move(perm)}});
}
Value broadcast_to(Value x, Dims dims) {
  return x.graph().apply(OpCode::broadcast_to, {x}, {{"dims", std::move(dims)}});
}

Value slice(Value x, Dims starts, Dims sizes, std::vector<std::int64_t> steps) {
  if (steps.empty()) steps.assign(x.dims().size(), 1);
  return x.graph().apply(
      OpCode::slice, {x},
      {{"starts", std::move(starts)}, {"dims", std::move(sizes)}, {"steps", std::move(steps)}});
}

Value pick(Value x, int axis, Dim index) {
  auto at = static_cast<std::size_t>(absolute_axis(x, axis));
  Dims starts(x.dims().size(), Dim(0)), sizes = x.dims();
  starts[at] = std::move(index);
  sizes[at] = 1;
  Dims rest = x.dims();
  rest.erase(rest.begin() + static_cast<long>(at));
  return reshape(slice(x, starts, sizes), rest);
}

Value concat(const std::vector<Value>& parts, int axis) {
  if (parts.empty()) fail("concat: no operands");
  std::int64_t at = absolute_axis(parts[0], axis);
  return parts[0].graph().apply(OpCode::concat, parts, {{"axis", at}});
}

std::vector<Value> split(Value x, int axis, const Dims& sizes) {
  auto at = static_cast<std::size_t>(absolute_axis(x, axis));
  std::vector<Value> parts;
  Dim start = 0;
  for (const Dim& size : sizes) {
    Dims starts(x.dims().size(), Dim(0)), dims = x.dims();
    starts[at] = start;
    dims[at] = size;
    parts.push_back(slice(x, starts, dims));
    start = start + size;
  }
  const Dim& whole = x.dims()[at];
  if (start.is_constant() && whole.is_constant() && start != whole)
    fail("split: the sizes add up to {}, the axis has {}", start.constant(), whole.constant());
  return parts;
}

Value pad(Value x, Dims before, Dims after, std::string mode, double value) {
  return x.graph().apply(
      OpCode::pad, {x, detail::operand(x, value)},
      {{"before", std::move(before)}, {"after", std::move(after)}, {"mode", std::move(mode)}});
}

Value gather(Value x, Value indices, int axis) {
  return x.graph().apply(OpCode::gather, {x, indices}, {{"axis", absolute_axis(x, axis)}});
}

Value iota(Graph& graph, Dims dims, int axis, DType dtype) {
  return graph.apply(OpCode::iota, {},
                     {{"dims", std::move(dims)}, {"axis", std::int64_t{axis}}, {"to", dtype}});
}

Value dim_value(Graph& graph, Dim dim) {
  return graph.apply(OpCode::dim_value, {}, {{"dim", Dims{std::move(dim)}}});
}

Value reduce_sum(Value x, std::vector<std::int64_t> axes, bool keepdims) {
  return reduce(OpCode::reduce_sum, x, std::move(axes), keepdims);
}
Value reduce_prod(Value x, std::vector<std::int64_t> axes, bool keepdims) {
  return reduce(OpCode::reduce_prod, x, std::move(axes), keepdims);
}
Value reduce_min(Value x, std::vector<std::int64_t> axes, bool keepdims) {
  return reduce(OpCode::reduce_min, x, std::move(axes), keepdims);
}
Value reduce_max(Value x, std::vector<std::int64_t> axes, bool keepdims) {
  return reduce(OpCode::reduce_max, x, std::move(axes), keepdims);
}
Value arg_max(Value x, int axis, bool keepdims) {
  return reduce(OpCode::arg_max, x, {axis}, keepdims);
}
Value arg_min(Value x, int axis, bool keepdims) {
  return reduce(OpCode::arg_min, x, {axis}, keepdims);
}

Value mean(Value x, std::vector<std::int64_t> axes, bool keepdims) {
  for (auto& axis : axes) axis = absolute_axis(x, axis);
  Dim elements = 1;
  if (axes.empty()) elements = product(x.dims());
  for (std::int64_t axis : axes) elements = elements * x.dims()[static_cast<std::size_t>(axis)];
  // Integers add up exactly before the one division.
  bool real = is_float(x.dtype());
  Value sum = reduce_sum(real ? x : cast(x, DType::i64), std::move(axes), keepdims);
  DType result = real ? x.dtype() : DType::f64;
  return cast(sum, result) / cast(dim_value(x.graph(), elements), result);
}

Value count(Value x, std::vector<std::int64_t> axes, bool keepdims) {
  Value holds = is_bool(x.dtype()) ? x : not_equal(x, 0);
  return reduce_sum(cast(holds, DType::i64), std::move(axes), keepdims);
}

Value matmul(Value a, Value b) { return a.graph().apply(OpCode::matmul, {a, b}); }

namespace {

Attributes attributes_of(const Places& places) {
  return {{"strides", places.strides},
          {"dilations", places.dilations},
          {"before", places.before},
          {"dims", places.dims}};
}

Value correlate(OpCode op, const Value& x, const Value& weights, const Places& places,
                std::int64_t groups) {
  Attributes attributes = attributes_of(places);
  attributes.set("groups", groups);
  return x.graph().apply(op, {x, weights}, std::move(attributes));
}

}  // namespace

Value conv(Value x, Value weights, const Places& places, std::int64_t groups) {
  return correlate(OpCode::conv, x, weights, places, groups);
}
Value conv_transpose(Value x, Value weights, const Places& places, std::int64_t groups) {
  return correlate(OpCode::conv_transpose, x, weights, places, groups);
}
Value window(Value x, const std::vector<std::int64_t>& kernel, const Places& places, double outside,
             std::size_t trail) {
  Attributes attributes = attributes_of(places);
  attributes.set("kernel", kernel);
  if (trail > 0) attributes.set("trail", static_cast<std::int64_t>(trail));
  return x.graph().apply(OpCode::window, {x, detail::operand(x, outside)}, std::move(attributes));
}

Value sort_indices(Value x, int axis, bool descending) {
  return x.graph().apply(
      OpCode::sort_indices, {x},
      {{"axis", absolute_axis(x, axis)}, {"descending", std::int64_t{descending}}});
}

namespace {

std::string combine_name(Combine combine) {
  const char* names[] = {"set", "add", "mul", "min", "max"};
  return names[static_cast<int>(combine)];
}

}  // namespace

Value scan(Value x, int axis, ScanOptions options) {
  return x.graph().apply(OpCode::scan, {x},
                         {{"axis", absolute_axis(x, axis)},
                          {"combine", combine_name(options.combine)},
                          {"exclusive", std::int64_t{options.exclusive}},
                          {"reverse", std::int64_t{options.reverse}}});
}

Value scatter(Value data, Value indices, Value updates, Combine combine, bool distinct) {
  return data.graph().apply(
      OpCode::scatter, {data, indices, updates},
      {{"combine", combine_name(combine)}, {"distinct", std::int64_t{distinct}}});
}

Value suppress(Value boxes, Value candidates, Value overlap, Value most) {
  return boxes.graph().apply(OpCode::suppress, {boxes, candidates, overlap, most});
}

Value bit_cast(Value x, DType to) { return x.graph().apply(OpCode::bit_cast, {x}, {{"to", to}}); }

Dim late_size(Value count, std::string name) {
  Dim size = Dim::late(name);
  count.graph().apply(OpCode::late_size, {count}, {{"name", std::move(name)}});
  return size;
}

// Every element that counts goes to the place that the number of those before it says.
Value nonzero_positions(Value x, std::string name) {
  Graph& graph = x.graph();
  Dim all = product(x.dims());
  Value holds = reshape(is_bool(x.dtype()) ? x : not_equal(x, 0), {all});
  Value before = scan(cast(holds, DType::i64), 0, {.exclusive = true});
  Value place = where(holds, before, -1);
  Value empty = broadcast_to(graph.constant(DType::i64, std::int64_t{0}), {all, 1});
  Value own = reshape(iota(graph, {all}, 0, DType::i64), {all, 1});
  Value packed = scatter(empty, place, own, Combine::set, true);
  Dim found = late_size(count(holds), std::move(name));
  return slice(reshape(packed, {all}), {Dim(0)}, {found});
}

Value gray(Value rgb, GrayMode mode) {
  const char* names[] = {"bt601_q15", "bt601_q16", "bt709"};
  return rgb.graph().apply(OpCode::gray, {rgb},
                           {{"mode", std::string(names[static_cast<int>(mode)])}});
}

Value threshold(Value x, double limit, double maximum) {
  return where(x > limit, detail::operand(x, maximum), 0);
}

Value in_range(Value x, const std::vector<double>& low, const std::vector<double>& high) {
  Dim channels = x.dims().empty() ? Dim(0) : x.dims().back();
  if (channels != Dim(static_cast<std::int64_t>(low.size())) || low.size() != high.size() ||
      low.empty())
    fail("in_range: {} low and {} high limits for a last axis of {}", low.size(), high.size(),
         channels.to_string());
  std::vector<Value> inside;
  for (std::size_t c = 0; c < low.size(); ++c) {
    Value one = pick(x, -1, static_cast<std::int64_t>(c));
    Value here = (one >= low[c]) & (one <= high[c]);
    inside.push_back(inside.empty() ? here : inside.back() & here);
  }
  return inside.back();
}

Value rgb_to_hsv(Value rgb) { return rgb.graph().apply(OpCode::rgb_to_hsv, {rgb}); }

Value nv12_to_rgb(Value y, Value uv, YuvMatrix matrix, YuvRange range) {
  return y.graph().apply(OpCode::nv12_to_rgb, {y, uv},
                         {{"matrix", std::string(matrix == YuvMatrix::bt601 ? "bt601" : "bt709")},
                          {"range", std::string(range == YuvRange::limited ? "limited" : "full")}});
}

Value resize(Value x, Dim height, Dim width, ResizeMode mode, std::string coordinates) {
  return x.graph().apply(OpCode::resize, {x},
                         {{"dims", Dims{std::move(height), std::move(width)}},
                          {"mode", std::string(mode == ResizeMode::nearest ? "nearest" : "linear")},
                          {"coordinates", std::move(coordinates)},
                          {"nearest", std::string("floor")}});
}

}  // namespace fuseline
