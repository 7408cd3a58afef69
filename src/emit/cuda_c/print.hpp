// CUDA C from Loop IR. The text of a kernel is the same on the device and on the host; only the
// prelude before it differs (prelude.hpp, host/prelude.inc).
#pragma once

#include <string>

#include "fuse/loop_ir.hpp"

namespace fuseline {

// Shared memory that every architecture of the project gives a block without asking.
inline constexpr std::int64_t max_shared_bytes = 48 * 1024;

// The kernel alone. What it uses of a prelude is written in prelude.hpp.
//
// Buffers that the kernel does not write are restrict-qualified: a launch must not pass the same
// memory as one of them and as a written one. In-place work uses one written buffer.
std::string print_cuda_body(const loop::Kernel& kernel);

// A complete source for NVRTC: no includes, only the helpers of the device prelude that it uses.
// Compile it with nvrtc_options.
std::string print_cuda(const loop::Kernel& kernel);

// Without fused multiply-add, f32 and f64 arithmetic is that of the other targets, bit for bit.
inline constexpr const char* nvrtc_options[] = {"--std=c++17", "--fmad=false"};

}  // namespace fuseline
