// Devices whose kernels do nothing, or are not even launched: the same memory and copies.
#pragma once

#include "program/device.hpp"

namespace fuseline::cli {

// Wraps a device. What its Programs leave in their outputs is whatever stood there, so only
// `fuseline diagnose` makes one, for times; no option and no variable leads here.
class NullKernelDevice : public Device {
 public:
  explicit NullKernelDevice(Device& device) : device_(device) {}

  DeviceId id() const override { return device_.id(); }
  const Target& target() const override { return device_.target(); }
  std::string identity() const override { return device_.identity() + ", null kernels"; }
  // The kernel without its body; another kernel for the cache of generated code, too.
  std::shared_ptr<const CompiledKernel> compile(const loop::Kernel& kernel) override;
  std::string source_of(const loop::Kernel& kernel) override;
  std::vector<DType> call_types() override { return device_.call_types(); }
  std::shared_ptr<const PreparedCall> prepare(const CallRequest& request) override {
    return device_.prepare(request);
  }
  std::unique_ptr<Queue> make_queue() override;  // makes no library calls
  std::shared_ptr<void> allocate(std::size_t bytes) override { return device_.allocate(bytes); }
  std::shared_ptr<void> allocate_host(std::size_t bytes) override {
    return device_.allocate_host(bytes);
  }
  std::unique_ptr<Arena> make_arena() override { return device_.make_arena(); }

 protected:
  Device& device_;
};

// The same without the launches: copies are all that is left of a run.
class NoKernelDevice final : public NullKernelDevice {
 public:
  using NullKernelDevice::NullKernelDevice;
  std::unique_ptr<Queue> make_queue() override;
};

// The kernel with these arguments that does nothing.
loop::Kernel without_body(const loop::Kernel& kernel);

}  // namespace fuseline::cli
