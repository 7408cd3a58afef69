// Index arithmetic that several operators share: picking by computed indices, scattering, prefixes,
// order.
#pragma once

#include <string>
#include <vector>

#include "onnx/context.hpp"

namespace fuseline::onnx {

// Any number of parts one after the other.
Value concat_many(std::vector<Value> parts, std::int64_t axis);
// A size as an i64 scalar.
Value size_value(Graph& graph, const Dim& dim);
// Indices as i64, negative ones counted from the end of an axis.
Value wrap_indices(const Value& indices, const Dim& extent);
// All elements in one axis.
Value flat(const Value& x);
// x at the row-major positions `linear`, any shape.
Value take(const Value& x, const Value& linear);
// For every element of `indices`: the position in x whose coordinate along `axis` is the index and
// whose other coordinates are the element's own.
Value positions_along(const Value& indices, const Dims& x, std::size_t axis);
Value gather_elements(const Value& x, const Value& indices, std::size_t axis);
// Rows of `updates` [M,R] put into data [N,R]: none (the last of equal places wins), add, mul, min
// or max.
Value scatter_rows(const Value& data, const Value& places, const Value& updates,
                   const std::string& reduction);
// The same for single elements at row-major positions `linear`, any shape.
Value scatter(const Value& data, const Value& linear, const Value& updates,
              const std::string& reduction);
// Sums or products of the elements up to each one along an axis.
Value prefix(const Value& x, std::size_t axis, bool product, bool exclusive, bool reverse);

struct Ordered {
  Value values, indices;
};
// The first `count` elements along an axis in order; of equals the earlier comes first.
Ordered top(const Value& x, std::size_t axis, const Dim& count, bool largest);

}  // namespace fuseline::onnx
