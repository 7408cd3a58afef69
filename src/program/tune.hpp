// Launch shapes chosen by measurement on the device, kept on disk.
#pragma once

#include <string>
#include <vector>

#include "fuse/plan.hpp"
#include "program/device.hpp"

namespace fuseline {

// One way to launch a kernel.
struct ShapeTrial {
  LaunchShape shape;
  std::int64_t blocks = 0;
  std::vector<std::uint64_t> params;
  const CompiledKernel* kernel = nullptr;
};

// A buffer that a trial needs: its bytes, and how far from its start element 0 is.
struct TrialBuffer {
  std::int64_t bytes = 0;
  std::int64_t origin = 0;
};

struct Trials {
  std::vector<TrialBuffer> buffers;  // in the kernel's order
  std::vector<ShapeTrial> trials;
  std::int64_t bytes() const;  // of all buffers
};

// Microseconds of one launch, the best of the rounds, by trial. Memory of its own is used, so
// nothing of the caller's is touched. One race at a time; Error where there is not enough memory.
std::vector<double> race(Device& device, const Trials& trials, int rounds);

// Position of the fastest trial; the first one where there is no memory for a race. `question`
// names everything that can change the answer besides the device; equal questions are measured once
// and kept on disk with the times of the losers.
std::size_t choose_shape(Device& device, const std::string& question, const Trials& trials);

}  // namespace fuseline
