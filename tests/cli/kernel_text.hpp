// A hand-written kernel that keeps the contract of mask, to be spoilt in ways that tests choose.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace fuseline::test {

inline constexpr const char* right_kernel = R"(#include <cstdint>
// fuseline: threads=128 items=4
extern "C" __global__ void mask_kernel(const unsigned char* __restrict__ frame,
                                       unsigned char* __restrict__ mask, long long* area,
                                       int H, int W) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  int n = H * W, first = (blockIdx.x * blockDim.x + threadIdx.x) * 4, set = 0;
  for (int i = first; i < first + 4 && i < n; ++i) {
    int gray = (9798 * frame[3 * i] + 19235 * frame[3 * i + 1] + 3735 * frame[3 * i + 2] + 16384) >> 15;
    mask[i] = gray > 127 ? 255 : 0;
    set += gray > 127;
  }
  for (int d = 16; d > 0; d /= 2) set += __shfl_down_sync(0xffffffffu, set, d);
  if (threadIdx.x % warpSize == 0) atomicAdd(&total, set);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd((unsigned long long*)area, (unsigned long long)total);
}
)";

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

}  // namespace fuseline::test
