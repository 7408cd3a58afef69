// Casts, quantisation, 8-bit floats.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fail.hpp"
#include "onnx/convert_type.hpp"
#include "onnx/operators.hpp"

namespace fuseline::onnx {
namespace {

void cast_to(Context& c, int type) {
  c.out(0,
        convert_type(c.operand(0), type, c.integer("saturate", 1) != 0,
                     c.choice("round_mode", "up", {"up", "down", "nearest"})),
        type);
}

void cast_op(Context& c) { cast_to(c, static_cast<int>(c.integer("to"))); }
void cast_like(Context& c) { cast_to(c, c.type(1)); }

// A scale or zero point beside the elements that it belongs to.
Value spread(const Value& v, const Dims& shape, std::int64_t axis, std::int64_t block) {
  if (v.dims().empty()) return v;
  if (v.dims().size() == 1 && (v.dims()[0] == Dim(1) || block == 0)) {
    if (v.dims()[0] == Dim(1)) return reshape(v, {});
    Dims dims(shape.size(), Dim(1));
    dims[absolute_axis(axis, shape.size())] = v.dims()[0];
    return reshape(v, dims);
  }
  if (v.dims().size() != shape.size())
    fail("a scale {} for {}", to_string(v.dims()), to_string(shape));
  if (block == 0) return v;
  // Each entry stands for `block` neighbours; the last block may be cut.
  std::size_t at = absolute_axis(axis, shape.size());
  Value index = iota(v.graph(), {shape[at]}, 0, DType::i64) / block;
  return gather(v, index, static_cast<int>(at));
}

struct Quantization {
  Value scale;
  std::optional<Operand> zero;
};

Quantization quantization(Context& c, const Dims& shape) {
  std::int64_t axis = c.integer("axis", 1), block = c.integer("block_size", 0);
  Quantization q{spread(c.in(1), shape, axis, block), std::nullopt};
  if (c.has(2)) q.zero = Operand{spread(c.in(2), shape, axis, block), c.type(2)};
  return q;
}

void quantize_linear(Context& c) {
  Value x = c.in(0);
  Quantization q = quantization(c, x.dims());
  auto given = static_cast<int>(c.integer("output_dtype", 0));
  int type = c.has(2) ? c.type(2) : given ? given : static_cast<int>(uint8);
  auto precision = static_cast<int>(c.integer("precision", 0));
  DType work = precision ? held_as(precision) : q.scale.dtype();
  if (!is_float(work)) work = DType::f32;
  Value quotient = cast(x, work) / cast(q.scale, work);
  if (is_float8(type))
    return c.out(
        0,
        convert_type({quotient, element_type_of(work)}, type, c.integer("saturate", 1) != 0, "up"),
        type);
  DType wide = work == DType::f64 ? DType::f64 : DType::f32;
  Value rounded = fuseline::round(cast(quotient, wide));
  if (q.zero) rounded = rounded + cast(q.zero->value, wide);
  c.out(saturate_cast(rounded, held_as(type)));
}

void dequantize_linear(Context& c) {
  Quantization q = quantization(c, c.in(0).dims());
  auto given = static_cast<int>(c.integer("output_dtype", 0));
  DType result = given ? held_as(given) : q.scale.dtype();
  Value scale = cast(q.scale, wide_type(q.scale.dtype()));
  if (is_float8(c.type(0))) {
    Value x = cast(convert_type(c.operand(0), float32, true, "up"), scale.dtype());
    return c.out(cast(x * scale, result));
  }
  Value x = cast(c.in(0), DType::i32);
  if (q.zero) x = x - cast(q.zero->value, DType::i32);
  c.out(cast(cast(x, scale.dtype()) * scale, result));
}

// uint8 with the range that the operand has, 0 included.
void dynamic_quantize_linear(Context& c) {
  Value x = c.in(0);
  Value low = minimum(reduce_min(x), 0), high = maximum(reduce_max(x), 0);
  Value scale = (high - low) / 255;
  Value safe = where(scale == 0, number(scale, 1), scale);
  Value zero = saturate_cast(fuseline::clip(fuseline::round(-low / safe), 0, 255), DType::u8);
  Value y = fuseline::round(x / safe) + cast(zero, x.dtype());
  c.out(0, saturate_cast(y, DType::u8));
  c.out(1, scale);
  c.out(2, zero);
}

void bit_cast_op(Context& c) {
  auto type = static_cast<int>(c.integer("to"));
  c.out(0, bit_cast(c.in(0), held_as(type)), type);
}

constexpr OperatorRow rows[] = {
    {"BitCast", 26, bit_cast_op},
    {"Cast", 1, cast_op},
    {"CastLike", 1, cast_like},
    {"QuantizeLinear", 1, quantize_linear},
    {"DequantizeLinear", 1, dequantize_linear},
    {"DynamicQuantizeLinear", 1, dynamic_quantize_linear},
};

}  // namespace

std::span<const OperatorRow> type_operators() { return rows; }

}  // namespace fuseline::onnx
