// f32 exp, expm1, log, log1p, tanh and erf as instructions. The polynomials are minimax fits of
// this project; each is accurate to 2^-25 of the result or better, so that rounding dominates.
// Largest errors in ULP, with fused multiply-add, over samples of every exponent (see
// tests/device/cpu_math_test.cpp): exp 1.0, expm1 1.4, log 1.0, log1p 1.7, tanh 2.9, erf 1.1.
#include <bit>
#include <limits>

#include "emit/llvm/math.hpp"
#include "emit/llvm/math_expression.hpp"

namespace fuseline::emit {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float log2_e = 0x1.715476p+0f;
// ln 2 in two parts; the product of the first with an integer below 2^9 is exact.
constexpr float ln2_high = 0x1.62e4p-1f;
constexpr float ln2_low = 0x1.7f7d1cp-20f;
constexpr std::uint32_t bits_of_one = 0x3f800000;

// x = n ln 2 + rest, |rest| <= ln 2 / 2, for |x| < 200. The sum with 1.5 * 2^23 is rounded to an
// integer, which stands in its low bits; a NaN makes a rest of NaN and some n.
struct Reduced {
  Floats rest;
  Value shifted;  // bits whose low 22 are those of n
};

Reduced reduce(Floats x) {
  constexpr float shifter = 0x1.8p23f;
  Floats sum = x.mul_add(x.k(log2_e), x.k(shifter));
  Floats n = sum - shifter;
  Floats rest = n.mul_add(x.k(-ln2_high), x);
  return {n.mul_add(x.k(-ln2_low), rest), sum.bits()};
}

// e^rest - 1 for a reduced rest: r + r^2 P(r). The square serves twice, and few steps depend on
// each other.
Floats expm1_of_rest(Floats r) {
  Floats square = r * r;
  Floats low = r.mul_add(r.k(0x1.555490p-3f), r.k(0x1.fffffcp-2f));
  Floats high = r.mul_add(r.k(0x1.123b6ap-7f), r.k(0x1.5558fap-5f));
  high = square.mul_add(r.k(0x1.6a21acp-10f), high);
  return square.mul_add(square.mul_add(high, low), r);
}

Value shift_left(Floats like, Value bits, std::uint32_t count) {
  return LLVMBuildShl(like.b(), bits, like.word(count), "");
}

// 2^n for -126 <= n <= 127.
Floats power_of_two(Floats like, Value shifted) {
  Value exponent = shift_left(like, shifted, 23);
  return like.from_bits(LLVMBuildAdd(like.b(), exponent, like.word(bits_of_one), ""));
}

// value * 2^n for -252 <= n <= 254, in two steps, so that the result may be subnormal.
Floats scaled(Floats value, Value shifted) {
  LLVMBuilderRef b = value.b();
  Value one = value.word(bits_of_one);
  Value half = LLVMBuildAnd(b, shift_left(value, shifted, 22), value.word(0xff800000), "");
  Value rest = LLVMBuildSub(b, shift_left(value, shifted, 23), half, "");
  Floats first = value.from_bits(LLVMBuildAdd(b, half, one, ""));
  Floats second = value.from_bits(LLVMBuildAdd(b, rest, one, ""));
  return value * first * second;
}

// log(m 2^e) from f = m - 1 in -0.293 ... 0.415.
Floats log_of_parts(Floats f, Floats e) {
  Floats p = f.polynomial({-0x1.38c8a4p-4f, 0x1.056606p-3f, -0x1.0d86ecp-3f, 0x1.22d8c8p-3f,
                           -0x1.5471fap-3f, 0x1.99a014p-3f, -0x1.000228p-2f, 0x1.555554p-2f});
  Floats square = f * f;
  Floats tail = (square * f).mul_add(p, e * ln2_low);
  return e.mul_add(f.k(ln2_high), square.mul_add(f.k(-0.5f), f) + tail);
}

// x = m 2^e with m in sqrt(1/2) ... sqrt(2), for positive normal x.
struct Split {
  Floats mantissa;
  Value exponent;
};

Split split(Floats x) {
  LLVMBuilderRef b = x.b();
  constexpr std::uint32_t sqrt_half = 0x3f3504f3;
  Value bits = LLVMBuildSub(b, x.bits(), x.word(sqrt_half), "");
  Value exponent = LLVMBuildAShr(b, bits, x.word(23), "");
  Value mantissa = LLVMBuildAnd(b, bits, x.word(0x007fffff), "");
  mantissa = LLVMBuildAdd(b, mantissa, x.word(sqrt_half), "");
  return {x.from_bits(mantissa), exponent};
}

// What log gives for these arguments: `zero` is minus infinity, below is NaN.
Floats with_log_limits(Floats result, Floats x, float zero) {
  result = result.replaced(x.equals(zero), x.k(-infinity));
  result = result.replaced(x.below(zero), x.k(nan));
  // Infinity and NaN pass through.
  return x.replaced(x.below(infinity), result);
}

// Whether any lane of `words` is above `limit`, unsigned.
Value any_above(Ir& ir, Value words, std::uint32_t limit) {
  LLVMBuilderRef b = ir.builder();
  // The largest of each position of a register first: one comparison for all registers.
  int width = ir.cpu().vector_bytes() / 4, lanes = Ir::lanes_of(words);
  for (; lanes > width && lanes % 2 == 0; lanes /= 2)
    words = ir.binary("llvm.umax", ir.slice(words, 0, lanes / 2),
                      ir.slice(words, lanes / 2, lanes / 2));
  Value above = LLVMBuildICmp(b, LLVMIntUGT, words, ir.bits(LLVMTypeOf(words), limit), "");
  if (lanes == 1) return above;
  Value mask = LLVMBuildBitCast(b, above, ir.integer_type(lanes), "");
  return LLVMBuildICmp(b, LLVMIntNE, mask, LLVMConstNull(ir.integer_type(lanes)), "");
}

}  // namespace

Value inline_exp(Ir& ir, Value value) {
  Floats x(ir, value);
  Reduced usual = reduce(x);
  Floats scale = power_of_two(x, usual.shifted);
  Floats result = expm1_of_rest(usual.rest).mul_add(scale, scale);
  // Up to 87 argument and result are normal numbers.
  Value magnitude = LLVMBuildAnd(x.b(), x.bits(), x.word(0x7fffffff), "");
  Value rare = any_above(ir, magnitude, std::bit_cast<std::uint32_t>(87.0f));
  return ir.rarely(rare, result.value(), [&] {
    // Beyond these the result is infinity and 0 anyway; the clamps keep n in range.
    Reduced r = reduce(x.at_most(89.0f).at_least(-104.0f));
    return scaled(expm1_of_rest(r.rest) + 1.0f, r.shifted).value();
  });
}

Value inline_expm1(Ir& ir, Value value) {
  Floats x(ir, value);
  Reduced r = reduce(x.at_most(89.0f).at_least(-18.0f));
  Floats small = expm1_of_rest(r.rest);
  // 2^(n-1) twice: n reaches 128.
  Value less = LLVMBuildSub(x.b(), r.shifted, x.word(1), "");
  Floats scale = power_of_two(x, less);
  Floats result = small.mul_add(scale, scale - 0.5f) * 2.0f;
  // Where n = 0 nothing is added, which also keeps the sign of zero.
  return result.replaced(scale.equals(0.5f), small).value();
}

Value inline_log(Ir& ir, Value value) {
  Floats x(ir, value);
  Split usual = split(x);
  Floats result = log_of_parts(usual.mantissa - 1.0f, x.from_integer(usual.exponent));
  // Everything but positive normal numbers: as unsigned integers those make one range.
  constexpr std::uint32_t smallest = 0x00800000, infinite = 0x7f800000;
  Value distance = LLVMBuildSub(x.b(), x.bits(), x.word(smallest), "");
  Value rare = any_above(ir, distance, infinite - smallest - 1);
  return ir.rarely(rare, result.value(), [&] {
    Value subnormal = x.below(std::numeric_limits<float>::min());
    Split parts = split(x.replaced(subnormal, x * 0x1p23f));
    Floats exponent = x.from_integer(parts.exponent);
    exponent = exponent.replaced(subnormal, exponent - 23.0f);
    return with_log_limits(log_of_parts(parts.mantissa - 1.0f, exponent), x, 0).value();
  });
}

Value inline_log1p(Ir& ir, Value value) {
  Floats x(ir, value);
  Floats u = x + 1.0f;
  // What the sum lost; the larger operand is subtracted first.
  Floats lost = (x - (u - 1.0f)).replaced(x.above(1.0f), x.k(1.0f) - (u - x));
  Split parts = split(u);
  // 2^-e; for the largest floats 2^-126 will do: there nothing was lost.
  Value down = LLVMBuildNeg(x.b(), parts.exponent, "");
  down = ir.binary("llvm.smax", down, x.word(static_cast<std::uint32_t>(-126)));
  Floats f = lost.mul_add(power_of_two(x, down), parts.mantissa - 1.0f);
  Floats result = log_of_parts(f, x.from_integer(parts.exponent));
  result = with_log_limits(result, x, -1.0f);
  return result.replaced(x.equals(0), x).value();
}

// (e^2|x| - 1) / (e^2|x| + 1): both sums are exact but for one rounding.
Value inline_tanh(Ir& ir, Value value) {
  Floats x(ir, value);
  Floats a = x.abs().at_most(10.0f);
  Reduced r = reduce(a + a);
  Floats small = expm1_of_rest(r.rest);
  Floats scale = power_of_two(x, r.shifted);
  Floats numerator = small.mul_add(scale, scale - 1.0f);
  Floats denominator = small.mul_add(scale, scale + 1.0f);
  return (numerator / denominator).copysign(x).value();
}

// Up to 1: x + x P(x^2). Above: 1 - exp(-g(x)), where g approximates -log(1 - erf(x)).
Value inline_erf(Ir& ir, Value value) {
  Floats x(ir, value);
  Floats u = x * x;
  Floats small = u.polynomial({0x1.496a5ap-14f, -0x1.a3f710p-11f, 0x1.5405b4p-8f, -0x1.b7f90ep-6f,
                               0x1.ce2cf8p-4f, -0x1.81273ep-2f, 0x1.06eba8p-3f});
  small = x.mul_add(small, x);
  Floats a = x.abs().at_most(3.93f);
  Floats g = a.polynomial({0x1.86dd92p-13f, -0x1.825b00p-9f, 0x1.65cb7ap-6f, -0x1.a65344p-4f,
                           -0x1.46baecp-1f, -0x1.2088eap+0f, -0x1.661cf0p-12f});
  Reduced r = reduce(g);
  Floats scale = power_of_two(x, r.shifted);
  Floats large = x.k(1.0f) - expm1_of_rest(r.rest).mul_add(scale, scale);
  return small.replaced(x.abs().above(1.0f), large.copysign(x)).value();
}

}  // namespace fuseline::emit
