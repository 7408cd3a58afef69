// Kernels lose their bodies and keep everything that a launch passes.
#include "cli/diagnose_null_device.hpp"

namespace fuseline::cli {
namespace {

loop::Kernel without_body(const loop::Kernel& kernel) {
  loop::Kernel null = kernel;
  null.name += "_null";
  null.body = {};
  return null;
}

}  // namespace

std::shared_ptr<const CompiledKernel> NullKernelDevice::compile(const loop::Kernel& kernel) {
  return device_.compile(without_body(kernel));
}

std::string NullKernelDevice::source_of(const loop::Kernel& kernel) {
  return device_.source_of(without_body(kernel));
}

}  // namespace fuseline::cli
