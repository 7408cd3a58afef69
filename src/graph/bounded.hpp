// Bounded: a number of the reference with the interval that holds what compiled code may give.
//
// Compiled code computes in f32 where evaluate computes in double, its library functions have
// errors of a few ULP, and what follows magnifies these differences. Instead of one tolerance for
// all, every scalar carries the interval of results that are legitimate for it:
//   + - * / sqrt                  rounded once to the computing type (f32 for f16, bf16 and f32)
//   exp, sin, pow, ...            4 ULP of the computing type
//   floor, min, comparisons, ...  exact on exact operands; an interval that crosses the step or the
//                                 limit gives every outcome that it allows
//   sums and products             c * eps * depth(n) * sum of |terms| (see reduction_depth)
//   a value's end                 one rounding to its element type, or none (fused f16 stays f32)
// Pixel samplers are defined step by step in f32: their arithmetic adds nothing.
#pragma once

#include <span>

#include "graph/scalar.hpp"

namespace fuseline {

struct Bounded {
  Number value;
  Number low, high;  // inclusive

  static Bounded exactly(Number value) { return {value, value, value}; }
  bool is_exact() const { return low.bits == value.bits && high.bits == value.bits; }
};

// Anything is legitimate, for floats NaN as well.
Bounded anything(Number value, DType dtype);
bool is_anything(const Bounded& x, DType dtype);

// Order of numbers of a type.
bool is_less(Number a, Number b, DType dtype);
// Makes the interval include another one.
void widen_to(Bounded& x, const Bounded& other, DType dtype);

// Counterparts of apply_intrinsic, convert and select. `strict`: every result is rounded to its
// type by the definition itself.
Bounded apply_bounded(Intrinsic fn, DType dtype, std::span<const Bounded> args, bool strict);
Bounded convert_bounded(const Bounded& x, DType from, DType to);
Bounded select_bounded(const Bounded& condition, const Bounded& a, const Bounded& b, DType dtype);
// The end of a value: the number is rounded, the interval holds the rounded and the unrounded one.
Bounded finish_bounded(const Bounded& x, DType dtype);

// Distance of neighbouring numbers of a float type at `value`.
double ulp_at(double value, DType dtype);
// How many roundings the bound of a float reduction over n elements counts. Compiled sums run
// over lanes, threads and trees, so not n; their errors add up like a random walk, so sqrt(n).
double reduction_depth(std::int64_t n);

}  // namespace fuseline
