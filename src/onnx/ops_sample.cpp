// Sampling at computed places: GridSample, AffineGrid, RoiAlign, DeformConv.
#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "onnx/index_tools.hpp"
#include "onnx/linear_tools.hpp"
#include "onnx/operators.hpp"
#include "onnx/spatial.hpp"

namespace fuseline::onnx {
namespace {

enum class Outside { zeros, border, reflection };

Value real_size(const Value& like, const Dim& dim) {
  return cast(size_value(like.graph(), dim), like.dtype());
}

// x mirrored at both ends until it lies between them.
Value reflected(const Value& x, const Value& low, const Value& high) {
  Value span = maximum(high - low, 1e-6);
  Value period = span * 2, shifted = mod(x - low, period);
  return low + minimum(shifted, period - shifted);
}

// An image [N, C, spatial...] that is read at whole places.
class Sampler {
 public:
  Sampler(Value image, Outside outside, bool align, std::size_t result_rank)
      : image_(image), outside_(outside), align_(align), rank_(result_rank) {}

  // Element at the places, one list of them an axis; each [N, 1, ...]. The result is [N, C, ...].
  Value at(const std::vector<Value>& places) const {
    const Dims& dims = image_.dims();
    Graph& graph = image_.graph();
    Value linear = line(0) * size_value(graph, dims[1]) + line(1);
    std::optional<Value> inside;
    for (std::size_t k = 0; k < places.size(); ++k) {
      const Dim& extent = dims[2 + k];
      Value i = resolve(places[k], extent);
      Value last = size_value(graph, extent - 1);
      if (outside_ == Outside::zeros) {
        Value here = (i >= 0) & (i <= last);
        inside = inside ? *inside & here : here;
      }
      linear = linear * size_value(graph, extent) + maximum(minimum(i, last), 0);
    }
    Value element = take(image_, linear);
    return inside ? where(*inside, element, number(element, 0)) : element;
  }

  Value low(const Value& like) const { return number(like, align_ ? 0 : -0.5); }
  Value high(const Value& like, const Dim& extent) const {
    return real_size(like, extent) - (align_ ? 1 : 0.5);
  }
  Outside outside() const { return outside_; }

 private:
  // The coordinate along axis 0 or 1.
  Value line(int axis) const {
    Dims dims(rank_, Dim(1));
    dims[static_cast<std::size_t>(axis)] = image_.dims()[static_cast<std::size_t>(axis)];
    return iota(image_.graph(), dims, axis, DType::i64);
  }
  Value resolve(const Value& place, const Dim& extent) const {
    if (outside_ != Outside::reflection) return cast(place, DType::i64);
    return cast(reflected(place, low(place), high(place, extent)), DType::i64);
  }

  Value image_;
  Outside outside_;
  bool align_;
  std::size_t rank_;
};

struct Neighbour {
  Value place, weight;  // f32 or f64
};

std::vector<Neighbour> neighbours(const std::string& mode, const Value& x) {
  if (mode == "nearest") return {{round(x), number(x, 1)}};
  Value low = floor(x), f = x - low;
  if (mode == "linear") return {{low, 1 - f}, {low + 1, f}};
  constexpr double a = -0.75;
  auto near = [&](const Value& d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  auto far = [&](const Value& d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {{low - 1, far(f + 1)}, {low, near(f)}, {low + 1, near(1 - f)}, {low + 2, far(2 - f)}};
}

// The sum over all combinations of neighbours from axis `k` on.
Value blend(const Sampler& sampler, const std::vector<std::vector<Neighbour>>& axes, std::size_t k,
            std::vector<Value>& places, DType dtype) {
  if (k == axes.size()) return cast(sampler.at(places), dtype);
  std::optional<Value> sum;
  for (const Neighbour& n : axes[k]) {
    places.push_back(n.place);
    Value term = blend(sampler, axes, k + 1, places, dtype) * n.weight;
    places.pop_back();
    sum = sum ? *sum + term : term;
  }
  return *sum;
}

void grid_sample(Context& c) {
  Value x = c.in(0);
  const Dims dims = x.dims(), grid_dims = c.in(1).dims();
  std::size_t axes = dims.size() - 2;
  if (dims.size() < 3 || grid_dims.size() != dims.size())
    fail("an image {} and a grid {}", to_string(dims), to_string(grid_dims));
  std::string mode = c.choice("mode", c.opset >= 20 ? "linear" : "bilinear",
                              {"linear", "bilinear", "nearest", "cubic", "bicubic"});
  if (mode.starts_with("bi")) mode = mode.substr(2);
  std::string padding = c.choice("padding_mode", "zeros", {"zeros", "border", "reflection"});
  Outside outside = padding == "zeros"    ? Outside::zeros
                    : padding == "border" ? Outside::border
                                          : Outside::reflection;
  bool align = c.integer("align_corners", 0) != 0;
  Sampler sampler(x, outside, align, dims.size());
  DType wide = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  Value grid = cast(c.in(1), wide);
  std::vector<std::vector<Neighbour>> all;
  for (std::size_t k = 0; k < axes; ++k) {
    // The grid's last axis names the innermost spatial axis first.
    Value g = unsqueeze(pick(grid, -1, static_cast<std::int64_t>(axes - 1 - k)), {1});
    Value extent = real_size(g, dims[2 + k]);
    Value at = align ? (g + 1) / 2 * (extent - 1) : ((g + 1) * extent - 1) / 2;
    if (outside == Outside::border) at = clip(at, number(at, 0), extent - 1);
    if (outside == Outside::reflection)
      at = reflected(at, sampler.low(at), sampler.high(at, dims[2 + k]));
    all.push_back(neighbours(mode, at));
  }
  std::vector<Value> places;
  c.out(cast(blend(sampler, all, 0, places, wide), x.dtype()));
}

void affine_grid(Context& c) {
  Value theta = c.in(0);
  Dims size = c.dims(1);
  std::size_t axes = size.size() - 2;
  if (size.size() < 3 || theta.dims().size() != 3) fail("a size of {} axes", size.size());
  bool align = c.integer("align_corners", 0) != 0;
  DType wide = wide_type(theta.dtype());
  Value t = cast(theta, wide);
  Dims space(axes + 1, Dim(1));
  auto entry = [&](std::size_t row, std::size_t column) {
    Value one =
        pick(pick(t, 1, static_cast<std::int64_t>(row)), 1, static_cast<std::int64_t>(column));
    return reshape(one, replaced(space, 0, theta.dims()[0]));
  };
  std::vector<Value> base;  // coordinates in [-1, 1], innermost axis first
  for (std::size_t k = axes; k-- > 0;) {
    const Dim& extent = size[2 + k];
    Value i = iota(c.graph, replaced(space, k + 1, extent), static_cast<int>(k + 1), wide);
    Value n = real_size(i, extent);
    base.push_back(align ? i * 2 / maximum(n - 1, 1) - 1 : (i * 2 + 1) / n - 1);
  }
  Dims full = {theta.dims()[0]};
  full.insert(full.end(), size.begin() + 2, size.end());
  std::vector<Value> rows;
  for (std::size_t row = 0; row < axes; ++row) {
    Value sum = entry(row, axes);
    for (std::size_t k = 0; k < axes; ++k) sum = sum + entry(row, k) * base[k];
    rows.push_back(unsqueeze(broadcast_both(sum, full), {-1}));
  }
  c.out(cast(concat_many(rows, -1), theta.dtype()));
}

// ---- RoiAlign

struct BilinearAxis {
  Value low, high, part;
  Value inside;
};

// As in Mask R-CNN: up to one element outside counts as the edge.
BilinearAxis bilinear_axis(const Value& position, const Dim& extent) {
  Value last = real_size(position, extent - 1);
  Value inside = (position >= -1) & (position <= last + 1);
  Value at = maximum(position, 0);
  Value low = minimum(floor(at), last);
  Value high = minimum(low + 1, last);
  Value part = where(low >= last, number(at, 0), at - low);
  return {low, high, part, inside};
}

void roi_align(Context& c) {
  Value x = c.in(0), rois = cast(c.in(1), DType::f32);
  std::int64_t height = c.integer("output_height", 1), width = c.integer("output_width", 1);
  std::int64_t samples = c.integer("sampling_ratio", 0);
  if (samples < 1)
    fail("attribute sampling_ratio: {}; a fixed number of samples is needed", samples);
  double scale = c.real("spatial_scale", 1);
  bool average = c.choice("mode", "avg", {"avg", "max"}) == "avg";
  bool half = c.opset >= 16 && c.choice("coordinate_transformation_mode", "half_pixel",
                                        {"half_pixel", "output_half_pixel"}) == "half_pixel";
  // [R, C, out height, out width, samples, samples]
  const Dim count = rois.dims().at(0);
  Dims line(6, Dim(1));
  auto corner = [&](std::int64_t i) {
    Value v = reshape(pick(rois, 1, i), replaced(line, 0, count)) * scale;
    return half ? v - 0.5 : v;
  };
  auto positions = [&](std::int64_t first, std::int64_t out, std::size_t out_axis) {
    Value start = corner(first), size = corner(first + 2) - start;
    if (!half) size = maximum(size, 1);
    Value bin = size / static_cast<double>(out);
    Value cell =
        iota(c.graph, replaced(line, out_axis, out), static_cast<int>(out_axis), DType::f32);
    Value sample = iota(c.graph, replaced(line, out_axis + 2, samples),
                        static_cast<int>(out_axis + 2), DType::f32);
    return start + (cell + (sample + 0.5) / static_cast<double>(samples)) * bin;
  };
  const Dims dims = x.dims();
  BilinearAxis row = bilinear_axis(positions(1, height, 2), dims.at(2));
  BilinearAxis column = bilinear_axis(positions(0, width, 3), dims.at(3));
  Value image = reshape(cast(c.in(2), DType::i64), replaced(line, 0, count));
  Value channel = iota(c.graph, replaced(line, 1, dims[1]), 1, DType::i64);
  auto element = [&](const Value& i, const Value& j) {
    Value plane = image * size_value(c.graph, dims[1]) + channel;
    Value linear = (plane * size_value(c.graph, dims[2]) + cast(i, DType::i64)) *
                       size_value(c.graph, dims[3]) +
                   cast(j, DType::i64);
    return cast(take(x, linear), DType::f32);
  };
  Value a = element(row.low, column.low) * ((1 - row.part) * (1 - column.part));
  Value b = element(row.low, column.high) * ((1 - row.part) * column.part);
  Value d = element(row.high, column.low) * (row.part * (1 - column.part));
  Value e = element(row.high, column.high) * (row.part * column.part);
  Value value = average ? a + b + d + e : maximum(maximum(a, b), maximum(d, e));
  value = where(row.inside & column.inside, value, number(value, 0));
  Value y = average ? reduce_sum(value, {4, 5}) / static_cast<double>(samples * samples)
                    : reduce_max(value, {4, 5});
  c.out(cast(y, x.dtype()));
}

// A convolution whose places are moved by an operand and weighted by another.
void deform_conv(Context& c) {
  Value x = c.in(0), w = c.in(1), offset = c.in(2);
  const Dims dims = x.dims();
  if (dims.size() != 4) fail("an image [N, C, H, W] is needed, not {}", to_string(dims));
  Spatial s = spatial_of(c, dims, kernel_of(w.dims()));
  std::int64_t groups = c.integer("offset_group", 1);
  Dim height = s.kernel[0], width = s.kernel[1];
  // [N, offset groups, 1, kernel height, kernel width, out height, out width]
  Dims line(7, Dim(1));
  Value moved = reshape(offset, {dims[0], groups, height, width, 2, s.sizes[0], s.sizes[1]});
  auto positions = [&](std::size_t k) {
    Value own = unsqueeze(pick(moved, 4, static_cast<std::int64_t>(k)), {2});
    Value place =
        iota(c.graph, replaced(line, 5 + k, s.sizes[k]), static_cast<int>(5 + k), x.dtype());
    Value tap =
        iota(c.graph, replaced(line, 3 + k, s.kernel[k]), static_cast<int>(3 + k), x.dtype());
    return place * static_cast<double>(s.strides[k]) + tap * static_cast<double>(s.dilations[k]) +
           own - real_size(own, s.before[k]);
  };
  Dim each = floor_div(dims[1], Dim(groups));
  Value plane = (iota(c.graph, replaced(line, 0, dims[0]), 0, DType::i64) * groups +
                 iota(c.graph, replaced(line, 1, groups), 1, DType::i64)) *
                    size_value(c.graph, each) +
                iota(c.graph, replaced(line, 2, each), 2, DType::i64);
  std::vector<std::vector<Neighbour>> axes = {neighbours("linear", positions(0)),
                                              neighbours("linear", positions(1))};
  std::optional<Value> sum;
  for (const Neighbour& i : axes[0])
    for (const Neighbour& j : axes[1]) {
      Value last_row = real_size(i.place, dims[2] - 1),
            last_column = real_size(j.place, dims[3] - 1);
      Value inside =
          (i.place >= 0) & (i.place <= last_row) & (j.place >= 0) & (j.place <= last_column);
      Value row = cast(clip(i.place, number(i.place, 0), last_row), DType::i64);
      Value column = cast(clip(j.place, number(j.place, 0), last_column), DType::i64);
      Value linear =
          (plane * size_value(c.graph, dims[2]) + row) * size_value(c.graph, dims[3]) + column;
      Value element = take(x, linear);
      Value term = where(inside, element * i.weight * j.weight, number(element, 0));
      sum = sum ? *sum + term : term;
    }
  Value columns = *sum;
  if (c.has(4))
    columns =
        columns * reshape(c.in(4), {dims[0], groups, 1, height, width, s.sizes[0], s.sizes[1]});
  // Each output channel sees its group's channels and taps: a product of matrices.
  std::int64_t group = c.integer("group", 1);
  Dim taps = height * width, channels = floor_div(dims[1], Dim(group));
  Dim features = floor_div(w.dims()[0], Dim(group));
  Value right = reshape(columns, {dims[0], group, channels * taps, s.sizes[0] * s.sizes[1]});
  Value left = reshape(w, {1, group, features, channels * taps});
  Value y = reshape(matmul(left, right), {dims[0], w.dims()[0], s.sizes[0], s.sizes[1]});
  c.out(c.has(3) ? add_bias(y, c.in(3)) : y);
}

constexpr OperatorRow rows[] = {
    {"GridSample", 16, grid_sample},
    {"AffineGrid", 20, affine_grid},
    {"RoiAlign", 10, roi_align},
    {"DeformConv", 19, deform_conv},
};

}  // namespace

std::span<const OperatorRow> sample_operators() { return rows; }

}  // namespace fuseline::onnx
