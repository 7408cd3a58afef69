// Launches of one kernel to try: with which parameters, on which buffers.
#pragma once

#include <span>
#include <vector>

#include "program/program_impl.hpp"
#include "program/tune.hpp"

namespace fuseline {

// The kernel's scalar arguments for sizes that hold the plan's own symbols (launch_blocks).
std::vector<std::uint64_t> params_of(const Kernel& kernel, const Region& region,
                                     const DimBindings& sizes);

// Buffers as large as the kernel's own in any of these shapes, in its order. `sizes` holds the
// strides.
std::vector<TrialBuffer> trial_buffers(const Program::Impl& program, const Kernel& kernel,
                                       const Region& region, const DimBindings& sizes,
                                       const TensorMap& inputs,
                                       std::span<const LaunchShape> shapes);
std::vector<ShapeTrial> shape_trials(const Kernel& kernel, const Region& region,
                                     const DimBindings& sizes, std::span<const LaunchShape> shapes);

}  // namespace fuseline
