// The builder: operations as functions and operators on Values.
#pragma once

#include <concepts>

#include "fuseline/graph.hpp"

namespace fuseline {

// ---- elementwise operations, one function each, generated from the table.
// Operands broadcast; numbers among them become constants of the first Value's element type.
namespace detail {
Value operand(const Value& like, double number);
Value operand(const Value& like, std::int64_t number);
template <std::integral T>
Value operand(const Value& like, T number) {
  return operand(like, static_cast<std::int64_t>(number));
}
template <std::floating_point T>
requires(!std::same_as<T, double>) Value operand(const Value& like, T number) {
  return operand(like, static_cast<double>(number));
}
inline Value operand(const Value&, const Value& value) { return value; }
Value elementwise(OpCode op, const std::vector<Value>& operands);

template <class T>
concept Operand =
    std::same_as<std::remove_cvref_t<T>, Value> || std::is_arithmetic_v<std::remove_cvref_t<T>>;
template <class T>
constexpr bool is_value = std::same_as<std::remove_cvref_t<T>, Value>;

template <class First, class... Rest>
const Value& first_value(const First& first, const Rest&... rest) {
  if constexpr (is_value<First>)
    return first;
  else
    return first_value(rest...);
}
// Numbers take the type of the first Value; behind a condition, of the first Value after it.
template <class First, class... Rest>
const Value& typed_like(OpCode op, const First& first, const Rest&... rest) {
  if constexpr (sizeof...(Rest) > 0 && (is_value<Rest> || ...))
    if (op == OpCode::where) return first_value(rest...);
  return first_value(first, rest...);
}
template <class... Operands>
Value call(OpCode op, const Operands&... operands) {
  const Value& like = typed_like(op, operands...);
  return elementwise(op, {operand(like, operands)...});
}
}  // namespace detail

#define FUSELINE_ELEMENTWISE(name, arity, rule, onnx, since, semantics, doc)                \
  template <detail::Operand... Operands>                                                    \
  requires(sizeof...(Operands) == arity && (detail::is_value<Operands> || ...)) Value name( \
      const Operands&... operands) {                                                        \
    return detail::call(OpCode::name, operands...);                                         \
  }
#define FUSELINE_STRUCTURAL(name, least, most, onnx, since, doc)
#define FUSELINE_REDUCTION(name, onnx, since, doc)
#define FUSELINE_CONTRACTION(name, least, most, onnx, since, doc)
#define FUSELINE_KERNEL(name, least, most, onnx, since, doc)
#include "fuseline/ops.def"
#undef FUSELINE_ELEMENTWISE
#undef FUSELINE_STRUCTURAL
#undef FUSELINE_REDUCTION
#undef FUSELINE_CONTRACTION
#undef FUSELINE_KERNEL

#define FUSELINE_OPERATOR(symbol, function)                                                \
  template <detail::Operand A, detail::Operand B>                                          \
  requires(detail::is_value<A> || detail::is_value<B>) Value operator symbol(const A& a,   \
                                                                             const B& b) { \
    return function(a, b);                                                                 \
  }
FUSELINE_OPERATOR(+, add)
FUSELINE_OPERATOR(-, sub)
FUSELINE_OPERATOR(*, mul)
FUSELINE_OPERATOR(/, div)
FUSELINE_OPERATOR(%, rem)
FUSELINE_OPERATOR(==, equal)
FUSELINE_OPERATOR(!=, not_equal)
FUSELINE_OPERATOR(<, less)
FUSELINE_OPERATOR(<=, less_equal)
FUSELINE_OPERATOR(>, greater)
FUSELINE_OPERATOR(>=, greater_equal)
FUSELINE_OPERATOR(&, logical_and)
FUSELINE_OPERATOR(|, logical_or)
FUSELINE_OPERATOR(^, logical_xor)
FUSELINE_OPERATOR(<<, shift_left)
FUSELINE_OPERATOR(>>, shift_right)
#undef FUSELINE_OPERATOR
inline Value operator-(const Value& a) { return neg(a); }
inline Value operator~(const Value& a) { return logical_not(a); }

// ---- types
enum class Rounding { trunc, nearest };
// Floats become integers by `rounding` with saturation; integers wrap.
Value cast(Value x, DType to, Rounding rounding = Rounding::trunc);
// As cast, but integers outside the target's range are limited to it.
Value saturate_cast(Value x, DType to, Rounding rounding = Rounding::nearest);

// ---- index maps. Negative axes count from the end.
Value reshape(Value x, Dims dims);
Value transpose(Value x, std::vector<std::int64_t> perm);
Value broadcast_to(Value x, Dims dims);
// Elements start, start + step, ... of every axis; `sizes` are those of the result.
Value slice(Value x, Dims starts, Dims sizes, std::vector<std::int64_t> steps = {});
// One index of an axis; the axis disappears.
Value pick(Value x, int axis, Dim index);
Value concat(const std::vector<Value>& parts, int axis);
// Parts along an axis, of the given sizes.
std::vector<Value> split(Value x, int axis, const Dims& sizes);
Value pad(Value x, Dims before, Dims after, std::string mode = "constant", double value = 0);
Value gather(Value x, Value indices, int axis);
Value iota(Graph& graph, Dims dims, int axis, DType dtype);
Value dim_value(Graph& graph, Dim dim);  // i64 scalar

// ---- reductions over axes (none given: all of them)
Value reduce_sum(Value x, std::vector<std::int64_t> axes = {}, bool keepdims = false);
Value reduce_prod(Value x, std::vector<std::int64_t> axes = {}, bool keepdims = false);
Value reduce_min(Value x, std::vector<std::int64_t> axes = {}, bool keepdims = false);
Value reduce_max(Value x, std::vector<std::int64_t> axes = {}, bool keepdims = false);
Value arg_max(Value x, int axis, bool keepdims = false);
Value arg_min(Value x, int axis, bool keepdims = false);
// Arithmetic mean: floats in their type, integers as f64. NaN (0 / 0) for no elements.
Value mean(Value x, std::vector<std::int64_t> axes = {}, bool keepdims = false);
// How many elements are not zero, as i64.
Value count(Value x, std::vector<std::int64_t> axes = {}, bool keepdims = false);

// ---- contractions
Value matmul(Value a, Value b);
// Of each spatial axis: stride, dilation, padding in front, size of the result.
struct Places {
  std::vector<std::int64_t> strides, dilations;
  Dims before, dims;
};
Value conv(Value x, Value weights, const Places& places, std::int64_t groups = 1);
Value conv_transpose(Value x, Value weights, const Places& places, std::int64_t groups = 1);
// The neighbourhood of each place on the last axes but `trail`: [..., places, trailing, kernel].
Value window(Value x, const std::vector<std::int64_t>& kernel, const Places& places,
             double outside = 0, std::size_t trail = 0);

// ---- order, prefixes, placing
// Indices that put an axis in order, stable.
Value sort_indices(Value x, int axis, bool descending = false);
enum class Combine { set, add, mul, min, max };
struct ScanOptions {
  Combine combine = Combine::add;
  bool exclusive = false, reverse = false;
};
// What lies up to each element of an axis, combined.
Value scan(Value x, int axis, ScanOptions options = {});
// Rows of updates [M,R] put into data [N,R] at indices [M]. `distinct`: no index occurs twice.
Value scatter(Value data, Value indices, Value updates, Combine combine = Combine::set,
              bool distinct = false);
// Which boxes [G,K,4], best first, overlap no better one by more than `overlap`.
Value suppress(Value boxes, Value candidates, Value overlap, Value most);
// The same bits as another type of equal width.
Value bit_cast(Value x, DType to);
// A computed i64 scalar as a size. Programs read it on the host before they go on.
Dim late_size(Value count, std::string name);
// Row-major positions of the elements that are not zero, i64 [late(name)].
Value nonzero_positions(Value x, std::string name);

// ---- pixels
enum class GrayMode { bt601_q15, bt601_q16, bt709 };
// u8 [..., 3 or 4] -> u8 [...]; see ops.def for the three formulas.
Value gray(Value rgb, GrayMode mode = GrayMode::bt601_q15);
// `maximum` where x > limit, else 0 (OpenCV THRESH_BINARY).
Value threshold(Value x, double limit, double maximum);
// Every channel within [low, high]: bool [...] from [..., C].
Value in_range(Value x, const std::vector<double>& low, const std::vector<double>& high);
Value rgb_to_hsv(Value rgb);  // u8 [..., 3 or 4] -> u8 [..., 3], OpenCV's 8-bit HSV
enum class YuvMatrix { bt601, bt709 };
enum class YuvRange { limited, full };
Value nv12_to_rgb(Value y, Value uv, YuvMatrix matrix, YuvRange range);
enum class ResizeMode { nearest, linear };
Value resize(Value x, Dim height, Dim width, ResizeMode mode = ResizeMode::linear,
             std::string coordinates = "half_pixel");

}  // namespace fuseline
