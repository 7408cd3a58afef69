// Sums and means over axes, as several operators need them.
#pragma once

#include <optional>
#include <vector>

#include "onnx/context.hpp"

namespace fuseline::onnx {

// Absolute axes, from operand 1 from an opset on, before from the attribute; all axes when none are
// given, nothing when that means "leave the operand alone".
std::optional<std::vector<std::int64_t>> reduction_axes(Context& c, std::int64_t operand_since);
// No axes: the operand itself.
Value sum_over(const Value& x, const std::vector<std::int64_t>& axes, bool keep);
Value mean_over(const Value& x, const std::vector<std::int64_t>& axes, bool keep);
// exp(x - max) / sum along one axis.
Value softmax_along(const Value& x, std::size_t axis);
Value log_softmax_along(const Value& x, std::size_t axis);

}  // namespace fuseline::onnx
