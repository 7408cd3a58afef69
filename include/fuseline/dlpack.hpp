// Tensor <-> DLTensor (DLPack), without copies. Needs <dlpack/dlpack.h> (Debian: libdlpack-dev).
#pragma once

#include <dlpack/dlpack.h>

#include <string>

#include "fuseline/error.hpp"
#include "fuseline/tensor.hpp"

namespace fuseline {

namespace detail {

inline constexpr std::uint8_t dlpack_bool = 6;  // kDLBool, from DLPack 0.8 on

inline DLDataType to_dlpack(DType dtype) {
  std::uint8_t code = kDLUInt;
  if (is_bool(dtype))
    code = dlpack_bool;
  else if (dtype == DType::bf16)
    code = kDLBfloat;
  else if (is_float(dtype))
    code = kDLFloat;
  else if (is_signed_integer(dtype))
    code = kDLInt;
  return {code, static_cast<std::uint8_t>(8 * size_of(dtype)), 1};
}

inline DType from_dlpack(DLDataType type) {
  for (int i = 0; i < dtype_count; ++i) {
    auto dtype = static_cast<DType>(i);
    DLDataType same = to_dlpack(dtype);
    if (same.code == type.code && same.bits == type.bits && type.lanes == 1) return dtype;
  }
  throw Error("DLPack tensor of type code " + std::to_string(type.code) + ", " +
              std::to_string(type.bits) + " bits, " + std::to_string(type.lanes) +
              " lanes: Fuseline has no such element type");
}

}  // namespace detail

// A view that points into `tensor`, which must outlive it.
inline DLTensor to_dlpack(const Tensor& tensor) {
  DLTensor view{};
  view.data = tensor.data();
  view.device = {tensor.device().kind == DeviceKind::cuda ? kDLCUDA : kDLCPU,
                 tensor.device().index};
  view.ndim = static_cast<std::int32_t>(tensor.shape().size());
  view.dtype = detail::to_dlpack(tensor.dtype());
  view.shape = const_cast<std::int64_t*>(tensor.shape().data());
  view.strides = const_cast<std::int64_t*>(tensor.strides().data());
  view.byte_offset = 0;
  return view;
}

// A view of the same memory, which must outlive it. Error for devices and types that Fuseline
// does not know.
inline Tensor from_dlpack(const DLTensor& view) {
  bool cpu = view.device.device_type == kDLCPU || view.device.device_type == kDLCUDAHost;
  if (!cpu && view.device.device_type != kDLCUDA)
    throw Error("DLPack tensor on a device of type " + std::to_string(view.device.device_type) +
                ": CPU or CUDA memory is needed");
  DeviceId device{cpu ? DeviceKind::cpu : DeviceKind::cuda, cpu ? 0 : view.device.device_id};
  Shape shape(view.shape, view.shape + view.ndim);
  Shape strides =
      view.strides ? Shape(view.strides, view.strides + view.ndim) : dense_strides(shape);
  void* data = static_cast<char*>(view.data) + view.byte_offset;
  return Tensor(data, detail::from_dlpack(view.dtype), std::move(shape), std::move(strides),
                device);
}

}  // namespace fuseline
