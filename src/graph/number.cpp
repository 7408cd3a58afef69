// Numbers: the interpreter's arithmetic, conversions and memory access.
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/fail.hpp"
#include "base/half.hpp"
#include "graph/scalar.hpp"

namespace fuseline {
namespace {

// Inlined with a known fn, the loops over lanes below lose their switch.
[[gnu::always_inline]] inline double apply_real(Intrinsic fn, double a, double b) {
  switch (fn) {
#define FUSELINE_INTRINSIC(name, arity, cls, expr) \
  case Intrinsic::name:                            \
    return static_cast<double>(expr);
#include "graph/intrinsics.def"
#undef FUSELINE_INTRINSIC
  }
  (void)b;
  fail_internal("unknown intrinsic");
}

// Cuts a 64-bit result back to the width of the type.
Number wrap(std::uint64_t bits, DType dtype) {
  Number n;
  switch (dtype) {
    case DType::bool_:
      n.u = bits != 0;
      break;
    case DType::u8:
      n.u = static_cast<std::uint8_t>(bits);
      break;
    case DType::u16:
      n.u = static_cast<std::uint16_t>(bits);
      break;
    case DType::u32:
      n.u = static_cast<std::uint32_t>(bits);
      break;
    case DType::i8:
      n.i = static_cast<std::int8_t>(bits);
      break;
    case DType::i16:
      n.i = static_cast<std::int16_t>(bits);
      break;
    case DType::i32:
      n.i = static_cast<std::int32_t>(bits);
      break;
    default:
      n.u = bits;
      break;
  }
  return n;
}

std::uint64_t divide(Number a, Number b, bool is_signed, bool remainder) {
  if (b.u == 0) return 0;
  if (!is_signed) return remainder ? a.u % b.u : a.u / b.u;
  if (b.i == -1) return remainder ? 0 : std::uint64_t{0} - a.u;  // the smallest value wraps
  return static_cast<std::uint64_t>(remainder ? a.i % b.i : a.i / b.i);
}

std::uint64_t shift_right(Number a, Number b, bool is_signed, std::uint64_t width) {
  std::uint64_t by = b.u;  // a negative count is a huge one
  if (is_signed) return static_cast<std::uint64_t>(a.i >> (by < width ? by : 63));
  return by < width ? a.u >> by : 0;
}

[[gnu::always_inline]] inline Number apply_integer(Intrinsic fn, DType dtype, Number a, Number b) {
  bool is_signed = is_signed_integer(dtype);
  std::uint64_t width = 8 * size_of(dtype);
  auto less = [&](Number x, Number y) { return is_signed ? x.i < y.i : x.u < y.u; };
  std::uint64_t r = 0;
  switch (fn) {
    case Intrinsic::add:
      r = a.u + b.u;
      break;
    case Intrinsic::sub:
      r = a.u - b.u;
      break;
    case Intrinsic::mul:
      r = a.u * b.u;
      break;
    case Intrinsic::div:
      r = divide(a, b, is_signed, false);
      break;
    case Intrinsic::rem:
      r = divide(a, b, is_signed, true);
      break;
    case Intrinsic::min:
      r = less(b, a) ? b.u : a.u;
      break;
    case Intrinsic::max:
      r = less(a, b) ? b.u : a.u;
      break;
    case Intrinsic::neg:
      r = std::uint64_t{0} - a.u;
      break;
    case Intrinsic::abs:
      r = is_signed && a.i < 0 ? std::uint64_t{0} - a.u : a.u;
      break;
    case Intrinsic::bit_and:
      r = a.u & b.u;
      break;
    case Intrinsic::bit_or:
      r = a.u | b.u;
      break;
    case Intrinsic::bit_xor:
      r = a.u ^ b.u;
      break;
    case Intrinsic::bit_not:
      r = dtype == DType::bool_ ? a.u == 0 : ~a.u;
      break;
    case Intrinsic::shl:
      r = b.u < width ? a.u << b.u : 0;
      break;
    case Intrinsic::shr:
      r = shift_right(a, b, is_signed, width);
      break;
    case Intrinsic::eq:
      return wrap(a.u == b.u, DType::bool_);
    case Intrinsic::ne:
      return wrap(a.u != b.u, DType::bool_);
    case Intrinsic::lt:
      return wrap(less(a, b), DType::bool_);
    case Intrinsic::le:
      return wrap(!less(b, a), DType::bool_);
    default:
      fail_internal("a floating-point intrinsic on integers");
  }
  return wrap(r, dtype);
}

Number float_to_integer(double value, DType to) {
  if (value != value) return wrap(0, to);
  Range range = full_range(to);
  double truncated = std::trunc(value);
  if (to == DType::u64) {
    if (truncated <= 0) return wrap(0, to);
    if (truncated >= 0x1p64) return wrap(~std::uint64_t{0}, to);
    return wrap(static_cast<std::uint64_t>(truncated), to);
  }
  if (truncated <= static_cast<double>(range.low))
    return wrap(static_cast<std::uint64_t>(range.low), to);
  if (truncated >= static_cast<double>(range.high))
    return wrap(static_cast<std::uint64_t>(range.high), to);
  return wrap(static_cast<std::uint64_t>(static_cast<std::int64_t>(truncated)), to);
}

double integer_to_float(Number value, DType from, DType to) {
  bool is_signed = is_signed_integer(from);
  if (to == DType::f64)
    return is_signed ? static_cast<double>(value.i) : static_cast<double>(value.u);
  // Directly to f32: through double, 64-bit integers would round twice.
  return is_signed ? static_cast<float>(value.i) : static_cast<float>(value.u);
}

}  // namespace

Range full_range(DType dtype) {
  switch (dtype) {
    case DType::bool_:
      return {0, 1};
    case DType::u8:
      return {0, 255};
    case DType::i8:
      return {-128, 127};
    case DType::u16:
      return {0, 65535};
    case DType::i16:
      return {-32768, 32767};
    case DType::u32:
      return {0, 4294967295};
    case DType::i32:
      return {-2147483648LL, 2147483647};
    case DType::u64:
      return {0, std::numeric_limits<std::int64_t>::max()};
    default:
      return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  }
}

Number apply_intrinsic(Intrinsic fn, DType dtype, std::span<const Number> args) {
  Number a = args[0];
  Number b = args.size() > 1 ? args[1] : Number{.bits = 0};
  if (!is_float(dtype)) return apply_integer(fn, dtype, a, b);
  double r = apply_real(fn, a.d, b.d);
  Number n;
  if (info(fn).cls == IntrinsicClass::cmp)
    n.u = r != 0;
  else
    n.d = r;
  return n;
}

void apply_intrinsic(Intrinsic fn, DType dtype, Lanes lanes) {
  bool real = is_float(dtype), compares = info(fn).cls == IntrinsicClass::cmp;
  auto each = [&](auto&& one) {
    for (std::size_t k = 0; k < lanes.count; ++k) lanes.out[k] = one(lanes.a[k], lanes.b[k]);
  };
  switch (fn) {
#define FUSELINE_INTRINSIC(name, arity, cls, expr)                                                 \
  case Intrinsic::name:                                                                            \
    if (!real)                                                                                     \
      each([&](Number a, Number b) { return apply_integer(Intrinsic::name, dtype, a, b); });       \
    else if (compares)                                                                             \
      each([](Number a, Number b) {                                                                \
        return Number{.u = apply_real(Intrinsic::name, a.d, b.d) != 0};                            \
      });                                                                                          \
    else                                                                                           \
      each([](Number a, Number b) { return Number{.d = apply_real(Intrinsic::name, a.d, b.d)}; }); \
    break;
#include "graph/intrinsics.def"
#undef FUSELINE_INTRINSIC
  }
}

Number round_to(Number value, DType dtype) {
  switch (dtype) {
    case DType::f16:
      value.d = half_to_float(double_to_half(value.d));
      break;
    case DType::bf16:
      value.d = bfloat_to_float(double_to_bfloat(value.d));
      break;
    case DType::f32:
      value.d = static_cast<float>(value.d);
      break;
    default:
      break;
  }
  return value;
}

Number convert(Number value, DType from, DType to) {
  if (from == to) return value;
  if (is_float(from)) {
    if (to == DType::bool_) return wrap(value.d != 0, to);
    if (is_float(to)) return round_to(value, to);
    return float_to_integer(value.d, to);
  }
  if (!is_float(to)) return wrap(value.u, to);
  Number n;
  n.d = integer_to_float(value, from, to);
  return round_to(n, to);
}

Number load_number(const void* element, DType dtype) {
  Number n{.bits = 0};
  std::uint64_t raw = 0;
  std::memcpy(&raw, element, size_of(dtype));
  switch (dtype) {
    case DType::f16:
      n.d = half_to_float(static_cast<std::uint16_t>(raw));
      break;
    case DType::bf16:
      n.d = bfloat_to_float(static_cast<std::uint16_t>(raw));
      break;
    case DType::f32:
      n.d = std::bit_cast<float>(static_cast<std::uint32_t>(raw));
      break;
    case DType::f64:
      n.d = std::bit_cast<double>(raw);
      break;
    default:
      n = wrap(raw, dtype);
      break;
  }
  return n;
}

void store_number(void* element, DType dtype, Number value) {
  std::uint64_t raw = value.bits;
  switch (dtype) {
    case DType::f16:
      raw = double_to_half(value.d);
      break;
    case DType::bf16:
      raw = double_to_bfloat(value.d);
      break;
    case DType::f32:
      raw = std::bit_cast<std::uint32_t>(static_cast<float>(value.d));
      break;
    default:
      break;
  }
  std::memcpy(element, &raw, size_of(dtype));
}

}  // namespace fuseline
