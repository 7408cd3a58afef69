// A foreign kernel compiled by NVRTC, and what is known of it before it runs.
#pragma once

#include <optional>
#include <string>

#include "foreign/contract.hpp"
#include "foreign/source_text.hpp"

namespace fuseline::foreign {

struct Occupancy {
  int blocks = 0;     // on a multiprocessor
  double share = 0;   // of the threads that one holds
  std::string limit;  // "registers", "threads", "shared memory", "blocks"
};

struct Compiled {
  std::string architecture;  // "sm_90"
  std::string missing;       // why NVRTC could not be asked; then the rest is empty
  std::string rejection;     // the compiler's text where it rejects the kernel
  std::string warnings;
  std::string image;  // CUBIN, or PTX for devices newer than NVRTC
  double ms = 0;
  std::optional<int> registers, spill_bytes, shared_bytes;
  std::optional<Occupancy> occupancy;
};

// `sm` as 90 for 9.0.
Compiled compile_foreign(const std::string& text, const std::string& file, const Contract& contract,
                         const LaunchWish& wish, int sm);

// Of a block with so many threads, registers a thread and bytes of shared memory; nothing for
// architectures whose limits are not known here.
std::optional<Occupancy> occupancy_of(int sm, int threads, int registers, int shared_bytes);

}  // namespace fuseline::foreign
