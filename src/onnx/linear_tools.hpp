// Products that several operators share.
#pragma once

#include "onnx/context.hpp"

namespace fuseline::onnx {

// numpy's matmul: lists are rows on the left and columns on the right.
Value matrix_product(const Value& a, const Value& b);
// A list added along axis 1.
Value add_bias(const Value& x, const Value& bias);

}  // namespace fuseline::onnx
