// Comparing tensors element by element.
#include "cli/tensor_difference.hpp"

#include <fmt/format.h>

#include <cmath>

#include "graph/scalar.hpp"

namespace fuseline::cli {
namespace {

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
  for (std::int64_t i = 0; i < ours.size(); ++i) {
    double a = element(ours, i), b = element(theirs, i);
    if (same(a, b)) continue;
    double apart = std::fabs(a - b);
    if (std::isnan(apart)) apart = INFINITY;
    d.largest = std::max(d.largest, apart);
    d.largest_ratio = std::max(d.largest_ratio, b != 0 ? apart / std::fabs(b) : INFINITY);
    if (apart <= tolerance.absolute + tolerance.relative * std::fabs(b)) continue;
    if (d.outside++ > 0) continue;
    d.first = i;
    d.ours = a;
    d.theirs = b;
  }
  return d;
}

}  // namespace fuseline::cli
