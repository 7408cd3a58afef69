// Kernels of one Region by guards.
#include <algorithm>

#include "program/program_impl.hpp"

namespace fuseline {

int RegionKernels::count() const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(kernels_.size());
}

std::shared_ptr<const Kernel> RegionKernels::get(const PlanGuards& guards) {
  PlanGuards wanted = guards;
  std::lock_guard lock(mutex_);
  if (!kernels_.contains(wanted) && kernels_.size() >= max_variants) {
    // Strides of every axis as parameters, wide indices: right for all sizes and buffers.
    for (Placement& placement : wanted.sources) placement.dense_tail = 0;
    wanted.index32 = false;
    wanted.aligned = false;
  }
  auto& kernel = kernels_[wanted];
  if (!kernel) kernel = make(wanted);
  return kernel;
}

std::shared_ptr<const Kernel> RegionKernels::make(const PlanGuards& guards) {
  auto kernel = std::make_shared<Kernel>();
  kernel->plan = make_plan(region_, guards, device_.target());
  kernel->lowered = lower(kernel->plan, name_);
  kernel->compiled = device_.compile(kernel->lowered.kernel);
  return kernel;
}

}  // namespace fuseline
