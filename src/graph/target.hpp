// Target: what planning needs to know of a device, as plain data.
#pragma once

#include <string>

#include "fuseline/tensor.hpp"

namespace fuseline {

struct Target {
  DeviceKind kind = DeviceKind::cpu;
  std::string name;            // "znver3", "sm_90"
  int vector_bytes = 16;       // widest register access of one thread
  int block_threads = 1;       // threads a block (1 on CPUs)
  int warp = 1;                // lanes that shuffle with each other
  int processors = 1;          // cores or multiprocessors
  int sm = 0;                  // compute capability x 10 (CUDA only)
  bool library_calls = false;  // contractions are calls of the device's library
  // Channels that lie next to each other where such calls are fastest; 0: all of them.
  std::int64_t channel_block = 0;
};

}  // namespace fuseline
