// Interval arithmetic of the scalar intrinsics.
#include "graph/bounded.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/fail.hpp"
#include "graph/op_table.hpp"

namespace fuseline {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double library_ulps = 4;

Number real(double d) { return {.d = d}; }
Number truth(bool holds) { return {.u = holds}; }

struct Interval {
  double low, high;
  bool has(double x) const { return low <= x && x <= high; }
};
constexpr Interval everything{-infinity, infinity};

double call(Intrinsic fn, double a, double b) {
  Number args[] = {real(a), real(b)};
  return apply_intrinsic(fn, DType::f64, std::span<const Number>(args, info(fn).arity)).d;
}

// The hull of fn over the corners; everything if it is not defined in one of them.
Interval corners(Intrinsic fn, Interval a, Interval b) {
  Interval result{infinity, -infinity};
  for (double x : {a.low, a.high})
    for (double y : {b.low, b.high}) {
      double r = call(fn, x, y);
      if (r != r) return everything;
      result = {std::min(result.low, r), std::max(result.high, r)};
    }
  return result;
}

Interval include(Interval a, double x) { return {std::min(a.low, x), std::max(a.high, x)}; }

// Functions with slope 1 at most, and range [-1, 1].
Interval wave(Intrinsic fn, Interval a) {
  double middle = call(fn, a.low, 0), reach = a.high - a.low;
  if (!std::isfinite(reach)) return everything;
  if (!(reach < 2)) return {-1, 1};
  return {std::max(-1.0, middle - reach), std::min(1.0, middle + reach)};
}

Interval power(Interval a, Interval b) {
  Interval r = corners(Intrinsic::pow, a, b);
  if (a.low > 0 || (a.low == 0 && b.low > 0)) return r;
  bool whole = b.low == b.high && b.low == std::trunc(b.low);
  if (!whole || (a.has(0) && b.low < 0)) return everything;
  return a.has(0) ? include(r, 0) : r;
}

Interval remainder(Interval a, Interval b) {
  double quotient = std::trunc(a.low / b.low);
  for (double x : {a.low, a.high})
    for (double y : {b.low, b.high})
      if (!(std::trunc(x / y) == quotient)) {
        double limit = std::max(std::fabs(b.low), std::fabs(b.high));
        return b.has(0) ? everything : Interval{-limit, limit};
      }
  return b.has(0) ? everything : corners(Intrinsic::rem, a, b);
}

Interval angle(Interval y, Interval x) {
  bool crosses_cut = x.low <= 0 && y.has(0);
  if (crosses_cut) return {-std::numbers::pi, std::numbers::pi};
  return corners(Intrinsic::atan2, y, x);
}

// Where fn maps the intervals, before its own error.
Interval image(Intrinsic fn, Interval a, Interval b) {
  switch (fn) {
    case Intrinsic::div:
      return b.has(0) ? everything : corners(fn, a, b);
    case Intrinsic::rem:
      return remainder(a, b);
    case Intrinsic::abs:
    case Intrinsic::cosh: {
      Interval r = corners(fn, a, b);
      return a.has(0) ? include(r, call(fn, 0, 0)) : r;
    }
    case Intrinsic::sin:
    case Intrinsic::cos:
      return wave(fn, a);
    case Intrinsic::tan: {
      Interval r{call(fn, a.low, 0), call(fn, a.high, 0)};
      return a.high - a.low < 1 && r.low <= r.high ? r : everything;
    }
    case Intrinsic::pow:
      return power(a, b);
    case Intrinsic::atan2:
      return angle(a, b);
    default:
      return corners(fn, a, b);
  }
}

bool is_correctly_rounded(Intrinsic fn) {
  return fn == Intrinsic::add || fn == Intrinsic::sub || fn == Intrinsic::mul ||
         fn == Intrinsic::div || fn == Intrinsic::sqrt;
}

bool adds_nothing(Intrinsic fn) {
  switch (fn) {
    case Intrinsic::rem:
    case Intrinsic::min:
    case Intrinsic::max:
    case Intrinsic::neg:
    case Intrinsic::abs:
    case Intrinsic::floor:
    case Intrinsic::ceil:
    case Intrinsic::trunc:
    case Intrinsic::rint:
      return true;
    default:
      return false;
  }
}

// What the computing type and the library add to the exact image.
Interval with_error(Intrinsic fn, DType dtype, Interval x) {
  if (adds_nothing(fn)) return x;
  DType computing = accumulator_type(dtype);
  if (!is_correctly_rounded(fn)) {
    double floor = fn == Intrinsic::exp && x.low >= 0 ? 0 : -infinity;
    x.low = std::max(floor, x.low - library_ulps * ulp_at(x.low, computing));
    x.high += library_ulps * ulp_at(x.high, computing);
  } else if (dtype == DType::f64 && fn == Intrinsic::mul) {
    // Contracted into a fused multiply-add, a product is not rounded at all.
    x = {std::nextafter(x.low, -infinity), std::nextafter(x.high, infinity)};
  }
  return {std::min(x.low, round_to(real(x.low), computing).d),
          std::max(x.high, round_to(real(x.high), computing).d)};
}

Bounded apply_real(Intrinsic fn, DType dtype, std::span<const Bounded> args, Number value,
                   bool exact, bool strict) {
  if (value.d != value.d) return exact ? Bounded::exactly(value) : anything(value, dtype);
  for (const Bounded& arg : args)
    if (is_anything(arg, dtype)) return anything(value, dtype);
  Interval x{value.d, value.d};
  if (!exact) {
    const Bounded& last = args.back();
    x = image(fn, {args[0].low.d, args[0].high.d}, {last.low.d, last.high.d});
  }
  if (strict)
    x = {round_to(real(x.low), dtype).d, round_to(real(x.high), dtype).d};
  else
    x = with_error(fn, dtype, x);
  if (x.low != x.low || x.high != x.high) return anything(value, dtype);
  return {value, real(std::min(x.low, value.d)), real(std::max(x.high, value.d))};
}

Bounded either(bool value) { return {truth(value), truth(false), truth(true)}; }

Bounded compare(Intrinsic fn, DType dtype, const Bounded& a, const Bounded& b, bool value) {
  auto is_nan = [&](const Bounded& x) {
    return is_float(dtype) && x.is_exact() && x.value.d != x.value.d;
  };
  if (is_nan(a) || is_nan(b)) return Bounded::exactly(truth(value));
  if (is_float(dtype) && (is_anything(a, dtype) || is_anything(b, dtype))) return either(value);
  bool below = is_less(a.high, b.low, dtype), above = is_less(b.high, a.low, dtype);
  bool not_above = !is_less(b.low, a.high, dtype), not_below = !is_less(a.low, b.high, dtype);
  bool certain = false;
  switch (fn) {
    case Intrinsic::lt:
      certain = below || not_below;
      break;
    case Intrinsic::le:
      certain = not_above || above;
      break;
    default:
      certain = below || above;
      break;  // equal only by chance
  }
  return certain ? Bounded::exactly(truth(value)) : either(value);
}

__int128 wide(Number n, DType dtype) {
  return is_signed_integer(dtype) ? static_cast<__int128>(n.i) : static_cast<__int128>(n.u);
}

__int128 largest(DType dtype) {
  return dtype == DType::u64 ? static_cast<__int128>(~std::uint64_t{0})
                             : static_cast<__int128>(full_range(dtype).high);
}

bool fits(__int128 x, DType dtype) { return x >= full_range(dtype).low && x <= largest(dtype); }

Bounded integer_interval(Number value, __int128 low, __int128 high, DType dtype) {
  if (!fits(low, dtype) || !fits(high, dtype)) return anything(value, dtype);  // it may wrap
  return {value, {.u = static_cast<std::uint64_t>(low)}, {.u = static_cast<std::uint64_t>(high)}};
}

Bounded apply_integer(Intrinsic fn, DType dtype, const Bounded& a, const Bounded& b, Number value) {
  __int128 al = wide(a.low, dtype), ah = wide(a.high, dtype);
  __int128 bl = wide(b.low, dtype), bh = wide(b.high, dtype);
  switch (fn) {
    case Intrinsic::add:
      return integer_interval(value, al + bl, ah + bh, dtype);
    case Intrinsic::sub:
      return integer_interval(value, al - bh, ah - bl, dtype);
    case Intrinsic::neg:
      return integer_interval(value, -ah, -al, dtype);
    case Intrinsic::min:
      return integer_interval(value, std::min(al, bl), std::min(ah, bh), dtype);
    case Intrinsic::max:
      return integer_interval(value, std::max(al, bl), std::max(ah, bh), dtype);
    case Intrinsic::mul: {
      constexpr __int128 limit = static_cast<__int128>(1) << 62;
      for (__int128 x : {al, ah, bl, bh})
        if (x > limit || x < -limit) return anything(value, dtype);
      auto [low, high] = std::minmax({al * bl, al * bh, ah * bl, ah * bh});
      return integer_interval(value, low, high, dtype);
    }
    case Intrinsic::div:
    case Intrinsic::shr: {
      if (!b.is_exact() || bl <= 0) break;  // with these it grows with a
      Number low[] = {a.low, b.value}, high[] = {a.high, b.value};
      return {value, apply_intrinsic(fn, dtype, low), apply_intrinsic(fn, dtype, high)};
    }
    case Intrinsic::bit_and:
      if (is_bool(dtype) && (ah == 0 || bh == 0)) return Bounded::exactly(value);
      break;
    case Intrinsic::bit_or:
      if (is_bool(dtype) && (al == 1 || bl == 1)) return Bounded::exactly(value);
      break;
    default:
      break;
  }
  return anything(value, dtype);
}

}  // namespace

Bounded anything(Number value, DType dtype) {
  if (is_float(dtype)) return {value, real(-infinity), real(infinity)};
  Range range = full_range(dtype);
  Number high{.i = range.high};
  if (dtype == DType::u64) high.u = ~std::uint64_t{0};
  return {value, {.i = range.low}, high};
}

bool is_anything(const Bounded& x, DType dtype) {
  Bounded all = anything(x.value, dtype);
  return x.low.bits == all.low.bits && x.high.bits == all.high.bits;
}

bool is_less(Number a, Number b, DType dtype) {
  if (is_float(dtype)) return a.d < b.d;
  return is_signed_integer(dtype) ? a.i < b.i : a.u < b.u;
}

void widen_to(Bounded& x, const Bounded& other, DType dtype) {
  bool nan = is_float(dtype) && (other.value.d != other.value.d || x.value.d != x.value.d);
  if (nan || is_anything(other, dtype)) x = anything(x.value, dtype);
  if (is_less(other.low, x.low, dtype)) x.low = other.low;
  if (is_less(x.high, other.high, dtype)) x.high = other.high;
}

Bounded apply_bounded(Intrinsic fn, DType dtype, std::span<const Bounded> args, bool strict) {
  Number values[2] = {args[0].value, args.back().value};
  Number value = apply_intrinsic(fn, dtype, std::span<const Number>(values, args.size()));
  bool exact = args[0].is_exact() && args.back().is_exact();
  if (info(fn).cls == IntrinsicClass::cmp)
    return exact ? Bounded::exactly(value) : compare(fn, dtype, args[0], args.back(), value.u != 0);
  if (!is_float(dtype))
    return exact ? Bounded::exactly(value) : apply_integer(fn, dtype, args[0], args.back(), value);
  if (strict) value = round_to(value, dtype);
  return apply_real(fn, dtype, args, value, exact, strict);
}

Bounded convert_bounded(const Bounded& x, DType from, DType to) {
  Number value = convert(x.value, from, to);
  if (x.is_exact()) return Bounded::exactly(value);
  if (is_bool(to)) {
    bool has_zero = is_float(from) ? x.low.d <= 0 && x.high.d >= 0
                                   : wide(x.low, from) <= 0 && wide(x.high, from) >= 0;
    return has_zero ? either(value.u != 0) : Bounded::exactly(value);
  }
  if (!is_float(from) && !is_float(to))
    return integer_interval(value, wide(x.low, from), wide(x.high, from), to);
  return {value, convert(x.low, from, to), convert(x.high, from, to)};
}

Bounded select_bounded(const Bounded& condition, const Bounded& a, const Bounded& b, DType dtype) {
  Bounded result = condition.value.u ? a : b;
  if (!condition.is_exact()) widen_to(result, condition.value.u ? b : a, dtype);
  return result;
}

Bounded finish_bounded(const Bounded& x, DType dtype) {
  if (!is_float(dtype)) return x;
  Bounded result{round_to(x.value, dtype), x.low, x.high};
  if (x.is_exact()) result.low = result.high = result.value;
  if (x.value.d != x.value.d || (x.is_exact() && result.value.bits == x.value.bits)) return result;
  double low = round_to(x.low, dtype).d, high = round_to(x.high, dtype).d;
  return {result.value, real(std::min(x.low.d, low)), real(std::max(x.high.d, high))};
}

double ulp_at(double value, DType dtype) {
  int digits = 53, least = -1022;
  if (dtype == DType::f32) digits = 24, least = -126;
  if (dtype == DType::f16) digits = 11, least = -14;
  if (dtype == DType::bf16) digits = 8, least = -126;
  if (value == 0 || !std::isfinite(value)) return std::ldexp(1.0, least - digits + 1);
  return std::ldexp(1.0, std::max(std::ilogb(value), least) - digits + 1);
}

double reduction_depth(std::int64_t n) {
  auto count = static_cast<double>(n);
  return std::min(count, 32 + 4 * std::sqrt(count));
}

}  // namespace fuseline
