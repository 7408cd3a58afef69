// What the text of a kernel uses besides CUDA C itself, and its version for the device.
//
//   KERNEL(threads)            before the kernel's name
//   KERNEL_LIMITED(threads, blocks)   the same, with blocks that must fit a multiprocessor
//   IN(T) p, OUT(T) p          pointer arguments; element types u8 ... f64, f16 and bf16 as bits
//   SHARED(T, name, n)         an array that the threads of a block share
//   await_inputs()             before the first access to memory: in a recording the kernel may
//                              have been started while the one before it still runs
//   block_id() block_count() thread_id() thread_count() barrier() fence()
//   load<align>(array, p)      array = p[0], p[1], ...; `align` bytes are known of p
//   store<align>(p, array)
//   load_stream, store_stream  the same for data that is touched once; also of one element
//   atomic_add(p, value)       shuffle_down(value, distance)    ballot_count(condition)
//   warp_sum(value)
//   min_nan max_nan saturate<T>(x) from_f16 to_f16 from_bf16 to_bf16 as_u32 as_f32 ...
#pragma once

#include <string>
#include <string_view>

namespace fuseline::cuda_c {

// The parts of the device prelude that `body` uses.
std::string device_prelude(std::string_view body);

}  // namespace fuseline::cuda_c
