// Shapes and tensor views.
#include "fuseline/tensor.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "base/fail.hpp"

namespace fuseline {

std::int64_t element_count(const Shape& shape) {
  constexpr std::int64_t limit = std::int64_t{1} << 62;
  std::int64_t count = 1;
  bool empty = false;
  for (std::int64_t extent : shape) {
    if (extent < 0) fail("shape {}: an extent is negative", to_string(shape));
    if (extent == 0) empty = true;
    else if (count > limit / extent) fail("shape {}: more than 2^62 elements", to_string(shape));
    else count *= extent;
  }
  return empty ? 0 : count;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Shape dense_strides(const Shape& shape) {
  Shape strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

Tensor::Tensor(void* data, DType dtype, Shape shape, DeviceId device)
    : data_(data), dtype_(dtype), shape_(std::move(shape)), device_(device) {
  strides_ = dense_strides(shape_);
}

Tensor::Tensor(void* data, DType dtype, Shape shape, Shape strides, DeviceId device)
    : data_(data), dtype_(dtype), shape_(std::move(shape)), strides_(std::move(strides)),
      device_(device) {
  if (strides_.size() != shape_.size())
    fail("tensor of shape {}: {} strides given, one a dimension is needed", to_string(shape_),
         strides_.size());
}

Tensor::Tensor(const void* data, DType dtype, Shape shape, DeviceId device)
    : Tensor(const_cast<void*>(data), dtype, std::move(shape), device) {}

namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t huge_page = std::size_t{1} << 21;

// Large blocks are asked for in huge pages: a 4K frame meets 12 page faults instead of 6000.
void* allocate_bytes(std::size_t bytes) {
  std::size_t unit = bytes >= 2 * huge_page ? huge_page : alignment;
  std::size_t rounded = (bytes + unit) / unit * unit;  // never zero
  if (rounded < bytes) return nullptr;
  void* memory = std::aligned_alloc(unit, rounded);
  // Advice only: without huge pages everything still works.
  if (memory && unit == huge_page) ::madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

}  // namespace

Tensor Tensor::allocate(DType dtype, Shape shape) {
  Tensor tensor(static_cast<void*>(nullptr), dtype, std::move(shape));
  std::size_t bytes = static_cast<std::size_t>(tensor.bytes());
  void* memory = allocate_bytes(bytes);
  if (!memory)
    fail_device("out of memory: {} bytes for a tensor {}", bytes, to_string(tensor.shape_));
  tensor.owner_.reset(memory, std::free);
  tensor.data_ = memory;
  return tensor;
}

Tensor Tensor::shared(std::shared_ptr<const void> owner, void* data, DType dtype, Shape shape) {
  Tensor tensor(data, dtype, std::move(shape));
  tensor.owner_ = std::move(owner);
  return tensor;
}

std::int64_t Tensor::bytes() const {
  return size() * static_cast<std::int64_t>(size_of(dtype_));
}

Tensor Tensor::view(std::int64_t offset, Shape shape, Shape strides) const {
  void* data = as<char>() + offset * static_cast<std::int64_t>(size_of(dtype_));
  Tensor other(data, dtype_, std::move(shape), std::move(strides), device_);
  other.owner_ = owner_;
  return other;
}

bool Tensor::is_dense() const {
  std::int64_t step = 1;
  for (std::size_t i = shape_.size(); i-- > 0;) {
    if (shape_[i] != 1 && strides_[i] != step) return false;
    step *= shape_[i];
  }
  return true;
}

}  // namespace fuseline
