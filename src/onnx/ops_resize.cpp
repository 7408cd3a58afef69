// Resize and Upsample: every mode, axis by axis.
#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "onnx/index_tools.hpp"
#include "onnx/operators.hpp"

namespace fuseline::onnx {
namespace {

struct Settings {
  std::string mode, coordinates, nearest;
  double cubic = -0.75, extrapolation = 0;
  bool antialias = false, exclude_outside = false;
};

// One axis: its sizes, its scale where one was given, its part of the region of interest.
struct Axis {
  std::size_t at;
  Dim from, to;
  std::optional<double> scale;
  std::optional<Value> start, end;  // f64 scalars
};

Value real_size(Graph& graph, const Dim& dim) { return cast(size_value(graph, dim), DType::f64); }

// Position in the operand of each element of the result: f64 [to].
Value source_positions(Graph& graph, const Settings& s, const Axis& a) {
  Value i = iota(graph, {a.to}, 0, DType::f64);
  // With a scale the ends are those of the stretched operand, which need not be whole.
  Value from = real_size(graph, a.from);
  Value to = a.scale ? from * *a.scale : real_size(graph, a.to);
  Value scale = a.scale ? number(graph, DType::f64, *a.scale) : to / from;
  auto half_pixel = [&] { return (i + 0.5) / scale - 0.5; };
  if (s.coordinates == "asymmetric") return i / scale;
  if (s.coordinates == "half_pixel") return half_pixel();
  if (s.coordinates == "pytorch_half_pixel") return where(to > 1, half_pixel(), i * 0.0);
  if (s.coordinates == "half_pixel_symmetric") {
    Value adjustment = real_size(graph, a.to) / (scale * from);
    return from / 2 * (1 - adjustment) + half_pixel();
  }
  Value last = maximum(to - 1, 1);
  if (s.coordinates == "align_corners") return i * (from - 1) / last;
  if (!a.start) fail("coordinates tf_crop_and_resize need a region of interest");
  Value inside = *a.start * (from - 1) + i * (*a.end - *a.start) * (from - 1) / last;
  return where(to > 1, inside, (*a.start + *a.end) * (from - 1) * 0.5 + i * 0.0);
}

Value clamped(const Value& index, const Dim& extent) {
  Value last = size_value(index.graph(), extent - 1);
  return maximum(minimum(cast(index, DType::i64), last), 0);
}

Value nearest_index(const Settings& s, const Value& x) {
  if (s.nearest == "floor") return floor(x);
  if (s.nearest == "ceil") return ceil(x);
  return s.nearest == "round_prefer_floor" ? ceil(x - 0.5) : floor(x + 0.5);
}

// The weight of a neighbour at a distance.
Value kernel(const Settings& s, const Value& distance) {
  Value d = abs(distance);
  if (s.mode == "linear") return maximum(1 - d, 0);
  double a = s.cubic;
  Value near = ((a + 2) * d - (a + 3)) * d * d + 1;
  Value far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return where(d <= 1, near, where(d < 2, far, number(d, 0)));
}

struct Taps {
  Value index;    // i64 [to, taps], may lie outside
  Value weights;  // f64 [to, taps]
};

Taps taps_of(const Settings& s, const Axis& a, const Value& x) {
  Graph& graph = x.graph();
  double shrink = 1;
  if (s.antialias) {
    if (a.scale)
      shrink = std::min(*a.scale, 1.0);
    else if (a.from.is_constant() && a.to.is_constant())
      shrink = std::min(
          static_cast<double>(a.to.constant()) / static_cast<double>(a.from.constant()), 1.0);
    else
      fail("antialias needs known sizes");
  }
  double support = s.mode == "linear" ? 1 : 2;
  auto first = static_cast<std::int64_t>(std::floor(-support / shrink)) + 1;
  std::int64_t count = 2 - 2 * first;
  Value low = floor(x);
  Value offset = iota(graph, {Dim(1), Dim(count)}, 1, DType::f64) + static_cast<double>(first);
  Value weights = kernel(s, (offset - unsqueeze(x - low, {1})) * shrink);
  Value index = cast(unsqueeze(low, {1}) + offset, DType::i64);
  if (s.exclude_outside) {
    Value inside = (index >= 0) & (index < size_value(graph, a.from));
    weights = where(inside, weights, number(weights, 0));
  }
  if (s.exclude_outside || s.antialias) weights = weights / reduce_sum(weights, {1}, true);
  return {index, weights};
}

// A list along one axis of something with `rank` axes.
Value along(const Value& list, std::size_t axis, std::size_t rank) {
  Dims dims(rank, Dim(1));
  for (std::size_t k = 0; k < list.dims().size(); ++k) dims[axis + k] = list.dims()[k];
  return reshape(list, dims);
}

Value resize_axis(const Settings& s, const Axis& a, const Value& x) {
  Value at = source_positions(x.graph(), s, a);
  auto axis = static_cast<int>(a.at);
  std::size_t rank = x.dims().size();
  Value y = x;
  if (s.mode == "nearest") {
    y = gather(x, clamped(nearest_index(s, at), a.from), axis);
  } else {
    Taps taps = taps_of(s, a, at);
    Value neighbours = gather(x, clamped(taps.index, a.from), axis);
    Value weights = along(cast(taps.weights, x.dtype()), a.at, rank + 1);
    y = reduce_sum(neighbours * weights, {axis + 1});
  }
  if (s.coordinates != "tf_crop_and_resize") return y;
  Value outside = (at < 0) | (at > real_size(x.graph(), a.from - 1));
  return where(along(outside, a.at, rank), number(y, s.extrapolation), y);
}

// floor(size * scale), also of a symbol where the scale is a simple fraction.
Dim scaled(const Dim& size, double scale) {
  if (!(scale > 0) || !(scale < 1e6)) fail("scale {}", scale);
  if (size.is_constant())
    return static_cast<std::int64_t>(std::floor(static_cast<double>(size.constant()) * scale));
  for (std::int64_t below = 1; below <= 64; ++below) {
    double above = scale * static_cast<double>(below);
    if (std::fabs(above - std::rint(above)) < 1e-6 * above)
      return floor_div(size * static_cast<std::int64_t>(std::rint(above)), Dim(below));
  }
  fail("scale {} of a size that is not known", scale);
}

// One scale for all axes, from the wanted sizes.
void keep_aspect(std::vector<Axis>& axes, bool not_larger) {
  std::optional<double> scale;
  for (const Axis& a : axes) {
    if (!a.from.is_constant() || !a.to.is_constant())
      fail("keep_aspect_ratio_policy needs known sizes");
    double own = static_cast<double>(a.to.constant()) / static_cast<double>(a.from.constant());
    scale = !scale ? own : not_larger ? std::min(*scale, own) : std::max(*scale, own);
  }
  for (Axis& a : axes) {
    a.to = static_cast<std::int64_t>(
        std::floor(*scale * static_cast<double>(a.from.constant()) + 0.5));
    a.scale = *scale;
  }
}

void resize_all(Context& c, const Settings& s, std::vector<Axis> axes) {
  Value x = c.in(0);
  DType type = x.dtype();
  bool exact = s.mode == "nearest";
  Value y = exact ? x : cast(x, type == DType::f64 ? DType::f64 : DType::f32);
  for (const Axis& a : axes) {
    bool untouched = a.from == a.to && (!a.scale || *a.scale == 1) && !a.start;
    if (!untouched) y = resize_axis(s, a, y);
  }
  c.out(exact ? y : cast(y, type));
}

bool is_empty_list(Context& c, std::size_t i) {
  return !c.has(i) || (c.in(i).dims().size() == 1 && c.in(i).dims()[0] == Dim(0));
}

std::vector<Axis> scaled_axes(Context& c, const std::vector<double>& scales,
                              const std::vector<std::int64_t>& which) {
  const Dims dims = c.in(0).dims();
  if (scales.size() != which.size()) fail("{} scales for {} axes", scales.size(), which.size());
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < which.size(); ++i) {
    auto at = static_cast<std::size_t>(which[i]);
    axes.push_back({at, dims[at], scaled(dims[at], scales[i]), scales[i], {}, {}});
  }
  return axes;
}

// Start and end of each axis: one after the other in a list.
void set_region(Context& c, std::vector<Axis>& axes) {
  if (is_empty_list(c, 1)) fail("coordinates tf_crop_and_resize need a region of interest");
  Value roi = cast(c.in(1), DType::f64);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i].start = pick(roi, 0, static_cast<std::int64_t>(i));
    axes[i].end = pick(roi, 0, static_cast<std::int64_t>(i + axes.size()));
  }
}

std::vector<std::int64_t> axes_given(Context& c) {
  if (c.has_attribute("axes")) {
    std::vector<std::int64_t> axes = c.integer_list("axes");
    for (auto& axis : axes) axis = static_cast<std::int64_t>(absolute_axis(axis, c.rank(0)));
    return axes;  // in the given order, as scales and sizes are
  }
  std::vector<std::int64_t> axes;
  for (std::size_t k = 0; k < c.rank(0); ++k) axes.push_back(static_cast<std::int64_t>(k));
  return axes;
}

void resize_op(Context& c) {
  Settings s;
  s.mode = c.choice("mode", "nearest", {"nearest", "linear", "cubic"});
  s.coordinates = c.choice("coordinate_transformation_mode", "half_pixel",
                           {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                            "align_corners", "asymmetric", "tf_crop_and_resize"});
  s.nearest = c.choice("nearest_mode", "round_prefer_floor",
                       {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  s.cubic = c.real("cubic_coeff_a", -0.75);
  s.extrapolation = c.real("extrapolation_value", 0);
  s.antialias = c.integer("antialias", 0) != 0 && s.mode != "nearest";
  s.exclude_outside = c.integer("exclude_outside", 0) != 0;
  std::vector<std::int64_t> which = axes_given(c);
  std::vector<Axis> axes;
  if (!is_empty_list(c, 2)) {
    axes = scaled_axes(c, c.known.numbers(c.in(2)), which);
  } else {
    if (is_empty_list(c, 3)) fail("neither scales nor sizes are given");
    bool stretches = c.text("keep_aspect_ratio_policy", "stretch") == "stretch";
    Dims sizes = stretches ? c.open_dims(3) : c.dims(3);
    if (sizes.size() != which.size()) fail("{} sizes for {} axes", sizes.size(), which.size());
    for (std::size_t i = 0; i < which.size(); ++i) {
      auto at = static_cast<std::size_t>(which[i]);
      axes.push_back({at, c.in(0).dims()[at], sizes[i], {}, {}, {}});
    }
    std::string policy =
        c.choice("keep_aspect_ratio_policy", "stretch", {"stretch", "not_larger", "not_smaller"});
    if (policy != "stretch") keep_aspect(axes, policy == "not_larger");
  }
  if (s.coordinates == "tf_crop_and_resize") set_region(c, axes);
  resize_all(c, s, std::move(axes));
}

// Before opset 11: scales only, no shift by half an element.
void resize_10(Context& c) {
  Settings s;
  s.mode = c.choice("mode", "nearest", {"nearest", "linear", "bilinear"});
  if (s.mode == "bilinear") s.mode = "linear";
  s.coordinates = "asymmetric";
  s.nearest = "floor";
  std::vector<double> scales = c.count() > 1 ? c.known.numbers(c.in(1)) : c.real_list("scales");
  resize_all(c, s, scaled_axes(c, scales, axes_given(c)));
}

constexpr OperatorRow rows[] = {
    {"Upsample", 7, resize_10},
    {"Resize", 10, resize_10},
    {"Resize", 11, resize_op},
};

}  // namespace

std::span<const OperatorRow> resize_operators() { return rows; }

}  // namespace fuseline::onnx
