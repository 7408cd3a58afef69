// Tensor <-> DLTensor.
#include "fuseline/dlpack.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace fuseline {
namespace {

TEST(Dlpack, RoundTripKeepsMemoryTypeAndStrides) {
  std::vector<float> memory(100);
  for (int i = 0; i < dtype_count; ++i) {
    Tensor tensor(static_cast<void*>(memory.data()), static_cast<DType>(i), {2, 3}, {8, 1});
    DLTensor view = to_dlpack(tensor);
    EXPECT_EQ(view.ndim, 2);
    EXPECT_EQ(view.strides[0], 8);
    EXPECT_EQ(view.dtype.bits, 8 * size_of(tensor.dtype()));
    Tensor back = from_dlpack(view);
    EXPECT_EQ(back.data(), tensor.data());
    EXPECT_EQ(back.dtype(), tensor.dtype());
    EXPECT_EQ(back.shape(), tensor.shape());
    EXPECT_EQ(back.strides(), tensor.strides());
  }
}

TEST(Dlpack, DenseTensorsMayLeaveStridesOutAndHaveAnOffset) {
  std::vector<std::int16_t> memory(10);
  std::int64_t shape[] = {2, 2};
  DLTensor view{};
  view.data = memory.data();
  view.device = {kDLCPU, 0};
  view.ndim = 2;
  view.dtype = {kDLInt, 16, 1};
  view.shape = shape;
  view.byte_offset = 4;
  Tensor tensor = from_dlpack(view);
  EXPECT_EQ(tensor.data(), memory.data() + 2);
  EXPECT_EQ(tensor.strides(), (Shape{2, 1}));
}

TEST(Dlpack, StrangeTypesAndDevicesAreRefused) {
  DLTensor view{};
  view.device = {kDLCPU, 0};
  view.dtype = {kDLComplex, 64, 1};
  EXPECT_THROW(from_dlpack(view), Error);
  view.dtype = {kDLFloat, 32, 4};
  EXPECT_THROW(from_dlpack(view), Error);
  view.dtype = {kDLFloat, 32, 1};
  view.device = {kDLOpenCL, 0};
  EXPECT_THROW(from_dlpack(view), Error);
}

}  // namespace
}  // namespace fuseline
