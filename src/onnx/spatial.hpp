// Kernel, stride, dilation and padding of convolutions and pooling, as the attributes say.
#pragma once

#include <vector>

#include "onnx/context.hpp"

namespace fuseline::onnx {

struct Spatial {
  std::vector<std::int64_t> kernel, strides, dilations;
  Dims from;           // sizes of the operand's spatial axes
  Dims before, after;  // padding
  Dims sizes;          // of the result

  Places places() const { return {strides, dilations, before, sizes}; }
  std::size_t axes() const { return kernel.size(); }
};

// `dims`: [N, C, spatial...]. `kernel`: from the weights, or empty for the attribute kernel_shape.
Spatial spatial_of(const Context& c, const Dims& dims, std::vector<std::int64_t> kernel);
// The same of a transposed convolution.
Spatial transposed_spatial(const Context& c, const Dims& dims, std::vector<std::int64_t> kernel);
// Spatial sizes of weights; Error when they are not known.
std::vector<std::int64_t> kernel_of(const Dims& weights);

}  // namespace fuseline::onnx
