// A CUDA device on the host: kernels planned and printed for CUDA, run by the host shim.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "emit/cuda_c/host/host.hpp"
#include "program/arena.hpp"
#include "program/device.hpp"

namespace fuseline::fuzz {

// Kernels are collected and compiled together at the first launch after new ones came: one run of
// the C++ compiler costs far more than one kernel.
class HostCudaDevice final : public Device {
 public:
  explicit HostCudaDevice(int block_threads = 64);
  DeviceId id() const override { return {DeviceKind::cuda, 0}; }
  const Target& target() const override { return target_; }
  std::string identity() const override { return target_.name; }
  std::shared_ptr<const CompiledKernel> compile(const loop::Kernel& kernel) override;
  std::string source_of(const loop::Kernel& kernel) override;
  std::unique_ptr<Queue> make_queue() override;
  std::shared_ptr<void> allocate(std::size_t bytes) override;
  std::unique_ptr<Arena> make_arena() override { return std::make_unique<MovingArena>(*this); }

  void run(const Launch& launch);
  void set_seed(std::uint64_t seed) { seed_ = seed; }  // order of threads and blocks

 private:
  void compile_pending();
  Target target_;
  std::uint64_t seed_ = 0;
  std::vector<host::Source> pending_;
  std::vector<std::shared_ptr<CompiledKernel>> pending_kernels_;
};

}  // namespace fuseline::fuzz
