// Comparison of compiled results with the reference.
#include <cmath>

#include "base/fail.hpp"
#include "graph/evaluate.hpp"
#include "graph/evaluate_source.hpp"

namespace fuseline {
namespace {

std::string number_text(Number x, DType dtype) {
  if (is_float(dtype)) return fmt::format("{:.9g}", x.d);
  if (is_bool(dtype)) return x.u ? "true" : "false";
  return is_signed_integer(dtype) ? fmt::format("{}", x.i) : fmt::format("{}", x.u);
}

std::string interval_text(const Bounded& x, DType dtype) {
  if (x.is_exact()) return "exactly that";
  return fmt::format("[{}, {}]", number_text(x.low, dtype), number_text(x.high, dtype));
}

}  // namespace

Bounded Evaluated::at(std::int64_t linear) const {
  if (!elements.empty()) return elements[static_cast<std::size_t>(linear)];
  // Inputs are kept as they were given, so they may have strides.
  Shape index(value.shape().size(), 0);
  for (std::size_t axis = index.size(); axis-- > 0;) {
    index[axis] = linear % value.shape()[axis];
    linear /= value.shape()[axis];
  }
  return Bounded::exactly(ElementSource(value).at(index));
}

bool is_allowed(Number actual, const Bounded& expected, DType dtype) {
  if (!is_float(dtype))
    return !is_less(actual, expected.low, dtype) && !is_less(expected.high, actual, dtype);
  if (is_anything(expected, dtype)) return true;
  if (expected.is_exact()) {
    bool both_nan = actual.d != actual.d && expected.value.d != expected.value.d;
    return both_nan || actual.d == expected.value.d;
  }
  double low = expected.low.d - ulp_at(expected.low.d, dtype);
  double high = expected.high.d + ulp_at(expected.high.d, dtype);
  return low <= actual.d && actual.d <= high;
}

Comparison compare_with_oracle(const Tensor& actual, const Evaluated& expected) {
  DType dtype = expected.value.dtype();
  const Shape& shape = expected.value.shape();
  if (actual.dtype() != dtype || actual.shape() != shape)
    fail("{}{} is compared with {}{}", name_of(actual.dtype()), to_string(actual.shape()),
         name_of(dtype), to_string(shape));
  Comparison result;
  ElementSource given(actual), exact(expected.value);
  Shape index(shape.size(), 0);
  for (std::int64_t n = 0; n < actual.size(); ++n, advance(index, shape)) {
    Number x = given.at(index);
    Bounded wanted = expected.elements.empty() ? Bounded::exactly(exact.at(index))
                                               : expected.elements[static_cast<std::size_t>(n)];
    ++result.elements;
    result.inexact += !wanted.is_exact();
    result.anything += !wanted.is_exact() && is_anything(wanted, dtype);
    if (is_allowed(x, wanted, dtype)) continue;
    if (result.mismatches++ == 0)
      result.first = Mismatch{index, number_text(wanted.value, dtype), number_text(x, dtype),
                              interval_text(wanted, dtype)};
  }
  return result;
}

}  // namespace fuseline
