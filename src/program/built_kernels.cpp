// The table of compiled kernels.
#include "program/built_kernels.hpp"

#include "program/program_impl.hpp"

namespace fuseline {

std::shared_ptr<const Kernel> BuiltKernels::get(const loop::Kernel& kernel) {
  std::string text = loop::to_text(kernel);
  std::lock_guard lock(mutex_);
  auto& known = kernels_[text];
  if (known) return known;
  loop::verify(kernel);
  auto made = std::make_shared<Kernel>();
  made->lowered.kernel = kernel;
  made->compiled = device_.compile(kernel);
  return known = made;
}

int BuiltKernels::count() const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(kernels_.size());
}

}  // namespace fuseline
