// The CUDA back end behind the stand-in driver: controls, a device whose kernels also run on
// simulated memory, and children of the test program.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "program/device.hpp"
#include "support/cuda_driver/control.hpp"

namespace fuseline::test {

struct Standin {
#define FUSELINE_STANDIN_POINTER(result, name, parameters) result(*name) parameters = nullptr;
  FUSELINE_STANDIN_CONTROLS(FUSELINE_STANDIN_POINTER)
#undef FUSELINE_STANDIN_POINTER
};
// Opened once, in front of all other drivers.
const Standin& standin();

// The device, and what the simulation must know of each kernel. With `results` kernels are run by
// the host simulator of emit/cuda_c, else they do nothing.
class DescribedDevice final : public Device {
 public:
  DescribedDevice(Device& inner, bool results);
  ~DescribedDevice() override;
  DeviceId id() const override { return inner_.id(); }
  const Target& target() const override { return inner_.target(); }
  std::string identity() const { return target().name; }
  std::shared_ptr<const CompiledKernel> compile(const loop::Kernel& kernel) override;
  std::string source_of(const loop::Kernel& kernel) override { return inner_.source_of(kernel); }
  std::unique_ptr<Queue> make_queue() override { return inner_.make_queue(); }
  std::shared_ptr<void> allocate(std::size_t bytes) override { return inner_.allocate(bytes); }

 private:
  struct HostBody;
  Device& inner_;
  bool results_;
  std::mutex mutex_;  // guards bodies_
  std::map<cuda::driver_api::Function, std::unique_ptr<HostBody>> bodies_;
};

// Skips where there is neither a GPU nor what the simulation needs.
class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  // One for all tests of a process.
  static DescribedDevice& device(bool results = true);
};

// What was opened or allocated and not given back, by the count of calls; one line.
std::string open_handles();

// Calls of operator new by this thread, without those of the driver: allocations.cpp.
std::int64_t host_allocations();
bool inside_driver();

}  // namespace fuseline::test
