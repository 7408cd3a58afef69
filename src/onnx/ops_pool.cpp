// Pooling: windows and what is taken of them.
#include <limits>

#include "base/fail.hpp"
#include "graph/op_table.hpp"
#include "onnx/index_tools.hpp"
#include "onnx/operators.hpp"
#include "onnx/reduce_tools.hpp"
#include "onnx/spatial.hpp"

namespace fuseline::onnx {
namespace {

// [N, C, places..., kernel flattened]
Value windows(const Value& x, const Spatial& s, double outside) {
  Value w = window(x, s.kernel, s.places(), outside);
  Dims dims(w.dims().begin(), w.dims().end() - static_cast<long>(s.axes()));
  std::int64_t count = 1;
  for (std::int64_t extent : s.kernel) count *= extent;
  dims.emplace_back(count);
  return reshape(w, dims);
}

double lowest(DType dtype) {
  if (is_float(dtype)) return -std::numeric_limits<double>::infinity();
  return static_cast<double>(identity_of(Intrinsic::max, dtype).i);
}

// Where in the operand a maximum was found, counted row-major or, within a channel, column-major.
Value winner_positions(const Value& x, const Spatial& s, const Value& winner, bool columns) {
  Graph& graph = x.graph();
  const Dims dims = winner.dims();
  std::vector<Value> at;  // coordinates in the operand
  Value rest = winner;
  for (std::size_t k = s.axes(); k-- > 0;) {
    Value in_kernel = rest % s.kernel[k];
    rest = rest / s.kernel[k];
    Value place = iota(graph, dims, static_cast<int>(k + 2), DType::i64) * s.strides[k];
    at.insert(at.begin(), place + in_kernel * s.dilations[k] - size_value(graph, s.before[k]));
  }
  Value linear = iota(graph, dims, 0, DType::i64) * size_value(graph, x.dims()[1]) +
                 iota(graph, dims, 1, DType::i64);
  for (std::size_t i = 0; i < s.axes(); ++i) {
    std::size_t k = columns ? s.axes() - 1 - i : i;
    linear = linear * size_value(graph, s.from[k]) + at[k];
  }
  return linear;
}

// Axis after axis: of a large kernel fewer elements are read, and a maximum is the same in any
// order.
Value separate_maxima(Value x, const Spatial& s) {
  double outside = lowest(x.dtype());
  for (std::size_t k = 0; k < s.axes(); ++k) {
    Places places{{s.strides[k]}, {s.dilations[k]}, {s.before[k]}, {s.sizes[k]}};
    x = reduce_max(window(x, {s.kernel[k]}, places, outside, s.axes() - 1 - k), {-1});
  }
  return x;
}

void max_pool(Context& c) {
  constexpr std::int64_t least_separated = 16;
  Value x = c.in(0);
  Spatial s = spatial_of(c, x.dims(), {});
  std::int64_t elements = 1;
  for (std::int64_t extent : s.kernel) elements *= extent;
  if (elements >= least_separated && s.axes() > 1 && !c.wants(1))
    return c.out(separate_maxima(x, s));
  Value w = windows(x, s, lowest(x.dtype()));
  c.out(0, reduce_max(w, {-1}));
  if (c.wants(1))
    c.out(1, winner_positions(x, s, arg_max(w, -1), c.integer("storage_order", 0) != 0));
}

// How many elements of each window count.
Value counts(const Value& x, const Spatial& s, bool with_padding) {
  Spatial own = s;
  if (with_padding)
    for (std::size_t k = 0; k < s.axes(); ++k) {
      own.from[k] = s.from[k] + s.before[k] + s.after[k];
      own.before[k] = 0;
    }
  Dims dims = {Dim(1), Dim(1)};
  dims.insert(dims.end(), own.from.begin(), own.from.end());
  Value ones = broadcast_to(number(x, 1), dims);
  return reduce_sum(windows(ones, own, 0), {-1});
}

void average_pool(Context& c) {
  Value x = c.in(0);
  Spatial s = spatial_of(c, x.dims(), {});
  Value w = cast(x, wide_type(x.dtype()));
  Value sum = reduce_sum(windows(w, s, 0), {-1});
  Value mean = sum / counts(w, s, c.integer("count_include_pad", 0) != 0);
  c.out(cast(mean, x.dtype()));
}

// The p-th root of a sum of p-th powers.
Value root_of_powers(const Value& x, std::int64_t axis_count, std::int64_t p) {
  std::vector<std::int64_t> axes;
  for (std::int64_t k = 1; k <= axis_count; ++k) axes.push_back(-k);
  bool keep = axis_count > 1;
  if (p == 1) return reduce_sum(abs(x), axes, keep);
  if (p == 2) return sqrt(reduce_sum(x * x, axes, keep));
  auto power = static_cast<double>(p);
  return pow(reduce_sum(pow(abs(x), number(x, power)), axes, keep), number(x, 1 / power));
}

void lp_pool(Context& c) {
  Value x = c.in(0);
  Spatial s = spatial_of(c, x.dims(), {});
  Value w = cast(x, wide_type(x.dtype()));
  c.out(cast(root_of_powers(windows(w, s, 0), 1, c.integer("p", 2)), x.dtype()));
}

std::vector<std::int64_t> spatial_axes(const Value& x) {
  std::vector<std::int64_t> axes;
  for (std::size_t k = 2; k < x.dims().size(); ++k) axes.push_back(static_cast<std::int64_t>(k));
  if (axes.empty()) fail("an operand [N, C, ...] is needed, not {}", to_string(x.dims()));
  return axes;
}

void global_average_pool(Context& c) {
  Value x = c.in(0);
  Value w = cast(x, wide_type(x.dtype()));
  c.out(cast(mean_over(w, spatial_axes(x), true), x.dtype()));
}

void global_max_pool(Context& c) { c.out(reduce_max(c.in(0), spatial_axes(c.in(0)), true)); }

void global_lp_pool(Context& c) {
  Value x = c.in(0);
  Value w = cast(x, wide_type(x.dtype()));
  auto axes = static_cast<std::int64_t>(spatial_axes(x).size());
  Value y = root_of_powers(w, axes, c.integer("p", 2));
  Dims dims(x.dims().size(), Dim(1));
  dims[0] = x.dims()[0];
  dims[1] = x.dims()[1];
  c.out(cast(reshape(y, dims), x.dtype()));
}

// Elements back at the places that MaxPool told.
void max_unpool(Context& c) {
  Value x = c.in(0);
  Spatial s = transposed_spatial(c, x.dims(), {});
  Dims natural = {x.dims()[0], x.dims()[1]}, wanted = natural;
  natural.insert(natural.end(), s.sizes.begin(), s.sizes.end());
  wanted = c.has(2) ? c.dims(2) : natural;
  Value empty = broadcast_to(number(x, 0), natural);
  Value y = scatter(empty, flat(c.in(1)), flat(x), "none");
  if (wanted == natural) return c.out(y);
  // The given shape is larger: positions are those of the natural one.
  Dims before(wanted.size(), Dim(0)), after;
  for (std::size_t k = 0; k < wanted.size(); ++k) after.push_back(wanted[k] - natural[k]);
  c.out(pad(y, before, after));
}

constexpr OperatorRow rows[] = {
    {"MaxPool", 1, max_pool},
    {"AveragePool", 1, average_pool},
    {"LpPool", 2, lp_pool},
    {"GlobalMaxPool", 1, global_max_pool},
    {"GlobalAveragePool", 1, global_average_pool},
    {"GlobalLpPool", 2, global_lp_pool},
    {"MaxUnpool", 9, max_unpool},
};

}  // namespace

std::span<const OperatorRow> pool_operators() { return rows; }

}  // namespace fuseline::onnx
