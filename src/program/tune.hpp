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
};

// A buffer that a trial needs: its bytes, and how far from its start element 0 is.
struct TrialBuffer {
  std::int64_t bytes = 0;
  std::int64_t origin = 0;
};

// Position of the fastest trial. Memory of its own is used, so nothing of the caller's is touched;
// where there is not enough of it the first trial is taken. `question` names everything that can
// change the answer besides the device; equal questions are measured once and kept on disk with
// the times of the losers.
std::size_t choose_shape(Device& device, const CompiledKernel& kernel, const std::string& question,
                         const std::vector<TrialBuffer>& buffers,
                         const std::vector<ShapeTrial>& trials);

}  // namespace fuseline
