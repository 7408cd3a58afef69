// Elements of a tensor at an index, for the readers of evaluate.
#pragma once

#include <span>

#include "base/fail.hpp"
#include "fuseline/tensor.hpp"
#include "graph/scalar.hpp"

namespace fuseline {

class ElementSource {
 public:
  explicit ElementSource(const Tensor& tensor)
      : tensor_(tensor), width_(static_cast<std::int64_t>(size_of(tensor.dtype()))) {
    empty_ = tensor.size() == 0;
    require(tensor.device().kind == DeviceKind::cpu, "evaluate reads host memory only");
  }

  // Row-major position. Index maps read element 0 of empty operands where a select drops it.
  std::int64_t position(std::span<const std::int64_t> index) const {
    std::int64_t linear = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      linear = linear * tensor_.shape()[axis] + index[axis];
    return linear;
  }

  Number at(std::span<const std::int64_t> index) const {
    if (empty_) return {.bits = 0};
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      require(index[axis] >= 0 && index[axis] < tensor_.shape()[axis],
              "an operation reads outside its operand");
      offset += index[axis] * tensor_.strides()[axis];
    }
    return load_number(tensor_.as<const char>() + offset * width_, tensor_.dtype());
  }

  bool empty() const { return empty_; }

 private:
  Tensor tensor_;
  std::int64_t width_;
  bool empty_;
};

// Steps through all indices of a shape in row-major order.
inline void advance(Shape& index, const Shape& shape) {
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (++index[axis] < shape[axis]) return;
    index[axis] = 0;
  }
}

}  // namespace fuseline
