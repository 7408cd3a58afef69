// Comparing tensors element by element.
#include "cli/tensor_difference.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "graph/scalar.hpp"

namespace fuseline::cli {
namespace {

// The element's place among all numbers of its type, so that neighbors differ by 1; -0 is 0.
std::int64_t place_of(const char* at, DType dtype) {
  auto ordered = [](std::int64_t bits, std::int64_t sign) {
    return bits & sign ? -(bits & ~sign) : bits;
  };
  switch (size_of(dtype)) {
    case 2: {
      std::uint16_t bits;
      std::memcpy(&bits, at, sizeof bits);
      return ordered(bits, 0x8000);
    }
    case 4: {
      std::uint32_t bits;
      std::memcpy(&bits, at, sizeof bits);
      return ordered(bits, std::int64_t{1} << 31);
    }
    default: {
      std::int64_t bits;
      std::memcpy(&bits, at, sizeof bits);
      return ordered(bits, std::numeric_limits<std::int64_t>::min());
    }
  }
}

double ulps_between(const Tensor& ours, const Tensor& theirs, std::int64_t i) {
  auto at = [&](const Tensor& tensor) {
    return place_of(tensor.as<const char>() + i * static_cast<std::int64_t>(size_of(ours.dtype())),
                    ours.dtype());
  };
  return std::fabs(static_cast<double>(at(ours)) - static_cast<double>(at(theirs)));
}

double element(const Tensor& tensor, std::int64_t i) {
  auto width = static_cast<std::int64_t>(size_of(tensor.dtype()));
  Number n = load_number(tensor.as<const char>() + i * width, tensor.dtype());
  return convert(n, tensor.dtype(), DType::f64).d;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

std::string Difference::describe() const {
  if (!other_type.empty()) return other_type;
  std::string text = fmt::format("max abs {:.3g}, max rel {:.3g}", largest, largest_ratio);
  if (is_float) text += fmt::format(", max ULP {:.12g}", largest_ulp);
  if (outside)
    text += fmt::format(", {} outside, the first at {}: {:g} instead of {:g}", outside, first, ours,
                        theirs);
  return text;
}

Difference difference(const Tensor& ours, const Tensor& theirs, Tolerance tolerance) {
  Difference d;
  if (ours.dtype() != theirs.dtype() || ours.shape() != theirs.shape()) {
    d.other_type =
        fmt::format("{}{} instead of {}{}", name_of(ours.dtype()), to_string(ours.shape()),
                    name_of(theirs.dtype()), to_string(theirs.shape()));
    return d;
  }
  d.is_float = fuseline::is_float(ours.dtype());
  for (std::int64_t i = 0; i < ours.size(); ++i) {
    double a = element(ours, i), b = element(theirs, i);
    if (same(a, b)) continue;
    double apart = std::fabs(a - b);
    if (std::isnan(apart)) apart = INFINITY;
    d.largest = std::max(d.largest, apart);
    d.largest_ratio = std::max(d.largest_ratio, b != 0 ? apart / std::fabs(b) : INFINITY);
    if (d.is_float) {
      bool one_is_nan = std::isnan(a) || std::isnan(b);
      d.largest_ulp =
          std::max(d.largest_ulp, one_is_nan ? INFINITY : ulps_between(ours, theirs, i));
    }
    double allowed = tolerance.absolute + tolerance.relative * std::fabs(b);
    if (std::isfinite(apart) && apart <= allowed) continue;
    if (d.outside++ > 0) continue;
    d.first = i;
    d.ours = a;
    d.theirs = b;
  }
  return d;
}

}  // namespace fuseline::cli
