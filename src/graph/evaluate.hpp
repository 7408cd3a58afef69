// The reference beyond the public evaluate(): all values, allowed intervals, single elements, and
// the comparison of compiled results with them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuseline/graph.hpp"
#include "graph/bounded.hpp"
#include "graph/check_sizes.hpp"

namespace fuseline {

// Every value of the graph, by ValueId.
std::vector<Tensor> evaluate_all(const Graph& graph, std::span<const NamedTensor> inputs);

// A value with what compiled code may give for each element (see bounded.hpp).
struct Evaluated {
  Tensor value;                   // dense
  std::vector<Bounded> elements;  // row-major; empty: exactly `value` everywhere
  Bounded at(std::int64_t linear) const;
};
std::vector<Evaluated> evaluate_bounded(const Graph& graph, std::span<const NamedTensor> inputs);

// Single elements of a value, computed from the inputs without computing whole tensors.
std::vector<Bounded> evaluate_at(const Graph& graph, ValueId value, std::span<const Shape> indices,
                                 std::span<const NamedTensor> inputs);

// Whether `actual` lies in the interval, widened by one ULP where it is not exact. NaN equals NaN,
// -0 equals 0.
bool is_allowed(Number actual, const Bounded& expected, DType dtype);

struct Mismatch {
  Shape index;
  std::string expected, actual;
  std::string allowed;  // the interval
};
struct Comparison {
  std::optional<Mismatch> first;
  std::int64_t elements = 0;
  std::int64_t mismatches = 0;
  std::int64_t inexact = 0;   // compared with an interval
  std::int64_t anything = 0;  // nothing could be said about these
};
// `actual` may be strided. Error when type or shape differ.
Comparison compare_with_oracle(const Tensor& actual, const Evaluated& expected);

}  // namespace fuseline
