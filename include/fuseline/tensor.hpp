// Tensor: a view of somebody's memory, laid out as DLPack describes it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "fuseline/dtype.hpp"

namespace fuseline {

using Shape = std::vector<std::int64_t>;

enum class DeviceKind : std::uint8_t { cpu, cuda };

struct DeviceId {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  bool operator==(const DeviceId&) const = default;
};

// Number of elements; 1 for a scalar. Throws Error when the product exceeds 2^62.
std::int64_t element_count(const Shape& shape);
// "[2160, 3840, 3]"
std::string to_string(const Shape& shape);
// Strides, in elements, of a row-major tensor without gaps.
Shape dense_strides(const Shape& shape);

// A view: it never owns what `data` points to (see Tensor::allocate for one that does).
// Strides count elements, not bytes. They may be negative, and zero for a broadcast
// dimension of an input. `data` points to the element with all indices zero.
class Tensor {
 public:
  Tensor() = default;
  // A dense row-major view.
  Tensor(void* data, DType dtype, Shape shape, DeviceId device = {});
  // A strided view; `strides` has one entry a dimension.
  Tensor(void* data, DType dtype, Shape shape, Shape strides, DeviceId device = {});
  // For inputs, which are never written.
  Tensor(const void* data, DType dtype, Shape shape, DeviceId device = {});

  template <class T>
  static Tensor of(T* data, Shape shape) {
    return Tensor(data, dtype_of<std::remove_const_t<T>>(), std::move(shape));
  }
  // A dense host tensor that owns its memory (64-byte aligned, uninitialised).
  static Tensor allocate(DType dtype, Shape shape);
  // A dense view that keeps `owner` alive: a piece of a mapped file.
  static Tensor shared(std::shared_ptr<const void> owner, void* data, DType dtype, Shape shape);

  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const Shape& strides() const { return strides_; }
  DeviceId device() const { return device_; }
  std::int64_t size() const { return element_count(shape_); }
  std::int64_t bytes() const;  // size() x element size
  bool is_dense() const;
  // Another view of the same memory, which stays alive with it. `offset` counts elements.
  Tensor view(std::int64_t offset, Shape shape, Shape strides) const;
  explicit operator bool() const { return data_ != nullptr; }

 private:
  void* data_ = nullptr;
  DType dtype_ = DType::u8;
  Shape shape_;
  Shape strides_;
  DeviceId device_;
  std::shared_ptr<const void> owner_;
};

}  // namespace fuseline
