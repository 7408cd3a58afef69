// Reductions, ArgMax and ArgMin.
#include <algorithm>

#include "base/fail.hpp"
#include "onnx/operators.hpp"
#include "onnx/reduce_tools.hpp"

namespace fuseline::onnx {

std::optional<std::vector<std::int64_t>> reduction_axes(Context& c, std::int64_t operand_since) {
  std::vector<std::int64_t> axes;
  if (c.opset >= operand_since) {
    if (c.has(1)) axes = c.integers(1);
  } else {
    axes = c.integer_list("axes");
  }
  if (axes.empty() && c.integer("noop_with_empty_axes", 0)) return std::nullopt;
  axes = absolute_axes(axes, c.rank(0));
  if (axes.empty())
    for (std::size_t k = 0; k < c.rank(0); ++k) axes.push_back(static_cast<std::int64_t>(k));
  return axes;
}

Value sum_over(const Value& x, const std::vector<std::int64_t>& axes, bool keep) {
  return axes.empty() ? x : reduce_sum(x, axes, keep);
}

Value mean_over(const Value& x, const std::vector<std::int64_t>& axes, bool keep) {
  Dim count = 1;
  for (std::int64_t axis : axes) count = count * x.dims()[static_cast<std::size_t>(axis)];
  Value sum = sum_over(x, axes, keep);
  return sum / cast(dim_value(x.graph(), count), x.dtype());
}

namespace {

enum class Kind { sum, mean, prod, min, max, l1, l2, square, log_sum, log_sum_exp };

// Halves are summed in f32 also where another operation follows.
Value reduce_wide(Kind kind, const Value& x, const std::vector<std::int64_t>& axes, bool keep) {
  switch (kind) {
    case Kind::mean:
      return mean_over(x, axes, keep);
    case Kind::l1:
      return sum_over(abs(x), axes, keep);
    case Kind::l2:
      return sqrt(sum_over(x * x, axes, keep));
    case Kind::square:
      return sum_over(x * x, axes, keep);
    case Kind::log_sum:
      return log(sum_over(x, axes, keep));
    case Kind::log_sum_exp: {
      if (axes.empty()) return x;
      // Exact for large elements; an infinite largest one would make NaN.
      Value top = reduce_max(x, axes, true);
      Value shift = where(is_inf(top) | is_nan(top), number(top, 0), top);
      Value sum = log(reduce_sum(exp(x - shift), axes, true)) + shift;
      return keep ? sum : squeeze(sum, axes);
    }
    default:
      fail_internal("a reduction without arithmetic");
  }
}

Value reduce_plain(Kind kind, const Value& x, const std::vector<std::int64_t>& axes, bool keep) {
  if (axes.empty()) return x;
  if (is_bool(x.dtype()))
    return cast(reduce_plain(kind, cast(x, DType::u8), axes, keep), DType::bool_);
  switch (kind) {
    case Kind::sum:
      return reduce_sum(x, axes, keep);
    case Kind::prod:
      return reduce_prod(x, axes, keep);
    case Kind::min:
      return reduce_min(x, axes, keep);
    default:
      return reduce_max(x, axes, keep);
  }
}

// `operand_since`: the opset in which the axes became an operand.
template <Kind kind, std::int64_t operand_since>
void reduce(Context& c) {
  auto axes = reduction_axes(c, operand_since);
  Value x = c.in(0);
  bool keep = c.integer("keepdims", 1) != 0, arithmetic = kind == Kind::mean || kind > Kind::max;
  if (!arithmetic) return c.out(axes ? reduce_plain(kind, x, *axes, keep) : x);
  if (!axes && kind == Kind::mean) return c.out(x);
  bool integer = is_integer(x.dtype());
  bool needs_reals = kind == Kind::l2 || kind == Kind::log_sum || kind == Kind::log_sum_exp;
  DType wide = integer && needs_reals ? DType::f64 : wide_type(x.dtype());
  if (integer && kind == Kind::mean) wide = x.dtype();
  Value result = reduce_wide(kind, cast(x, wide), axes ? *axes : std::vector<std::int64_t>{}, keep);
  c.out(cast(result, x.dtype()));
}

template <bool largest>
void arg(Context& c) {
  Value x = c.in(0);
  auto axis = static_cast<std::int64_t>(absolute_axis(c.integer("axis", 0), x.dims().size()));
  bool keep = c.integer("keepdims", 1) != 0;
  auto at = static_cast<int>(axis);
  auto find = [&](const Value& v) { return largest ? arg_max(v, at, keep) : arg_min(v, at, keep); };
  if (!c.integer("select_last_index", 0)) return c.out(find(x));
  const Dim extent = x.dims()[static_cast<std::size_t>(axis)];
  Dims starts(x.dims().size(), Dim(0));
  std::vector<std::int64_t> steps(x.dims().size(), 1);
  starts[static_cast<std::size_t>(axis)] = extent - 1;
  steps[static_cast<std::size_t>(axis)] = -1;
  Value from_end = find(slice(x, starts, x.dims(), steps));
  c.out(dim_value(c.graph, extent - 1) - from_end);
}

constexpr OperatorRow rows[] = {
    {"ReduceSum", 1, reduce<Kind::sum, 13>},
    {"ReduceMean", 1, reduce<Kind::mean, 18>},
    {"ReduceProd", 1, reduce<Kind::prod, 18>},
    {"ReduceMin", 1, reduce<Kind::min, 18>},
    {"ReduceMax", 1, reduce<Kind::max, 18>},
    {"ReduceL1", 1, reduce<Kind::l1, 18>},
    {"ReduceL2", 1, reduce<Kind::l2, 18>},
    {"ReduceSumSquare", 1, reduce<Kind::square, 18>},
    {"ReduceLogSum", 1, reduce<Kind::log_sum, 18>},
    {"ReduceLogSumExp", 1, reduce<Kind::log_sum_exp, 18>},
    {"ArgMax", 1, arg<true>},
    {"ArgMin", 1, arg<false>},
};

}  // namespace

std::span<const OperatorRow> reduce_operators() { return rows; }

}  // namespace fuseline::onnx
