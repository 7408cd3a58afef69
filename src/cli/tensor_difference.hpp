// How far two tensors are from each other.
#pragma once

#include <string>

#include "fuseline/tensor.hpp"

namespace fuseline::cli {

struct Tolerance {
  double relative = 1e-3, absolute = 1e-3;
};

struct Difference {
  std::string other_type;       // not empty: types or shapes differ, and how
  double largest = 0;           // |a - b|
  double largest_ratio = 0;     // |a - b| / |b|
  double largest_ulp = 0;       // representable numbers from a to b; infinite to and from NaN
  bool is_float = false;        // only then there are ULPs
  std::int64_t outside = 0;     // elements with |a - b| > absolute + relative * |b|
  std::int64_t first = -1;      // of them, row-major
  double ours = 0, theirs = 0;  // at that element

  bool is_fine() const { return other_type.empty() && outside == 0; }
  std::string describe() const;
};

// NaN equals NaN, and an infinity only itself.
Difference difference(const Tensor& ours, const Tensor& theirs, Tolerance tolerance);

}  // namespace fuseline::cli
