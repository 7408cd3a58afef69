// Kernels of a graph raced over many shapes of their launch, and under limits of registers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuse/plan.hpp"
#include "fuseline/program.hpp"
#include "program/device.hpp"

namespace fuseline {

struct SweptShape {
  LaunchShape shape;
  int resident_blocks = 0;  // that must fit a multiprocessor; 0: no limit of registers
  double us = 0;            // of one launch
  std::optional<int> registers, spill_bytes;
};

struct KernelSweep {
  std::string kernel;
  std::int64_t shared_bytes = 0;  // of a block
  std::vector<SweptShape> rows;   // the first is the shape that runs take
};

struct SweepPlan {
  int rounds = 15;
  bool limits_registers = true;
};

// One entry a kernel with work, on a CUDA device. Memory of its own is used; throws Error where
// there is not enough.
std::vector<KernelSweep> sweep_kernels(Device& device, const Graph& graph,
                                       const CompileOptions& options, const TensorMap& inputs,
                                       const SweepPlan& plan);

}  // namespace fuseline
