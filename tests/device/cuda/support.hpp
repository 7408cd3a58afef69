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

// The driver's own functions, of the stand-in.
struct DriverCalls {
#define FUSELINE_STANDIN_POINTER(member, symbol, name, parameters) \
  cuda::driver_api::member##_fn* member = nullptr;
  FUSELINE_DRIVER_SYMBOLS(FUSELINE_STANDIN_POINTER)
#undef FUSELINE_STANDIN_POINTER
};
const DriverCalls& driver_calls();

// A stream that a caller of Fuseline has made.
class CallerStream {
 public:
  CallerStream();
  ~CallerStream();
  CallerStream(const CallerStream&) = delete;
  CallerStream& operator=(const CallerStream&) = delete;
  cuda::driver_api::Stream get() const { return stream_; }
  void wait() const;

 private:
  cuda::driver_api::Context context_ = nullptr;
  cuda::driver_api::Stream stream_ = nullptr;
};

enum class Kernels { run, skipped };
enum class Memory { stays, moves };  // when an arena grows

// The device, and what the simulation must know of each kernel: kernels are run by the host
// simulator of emit/cuda_c, or do nothing.
class DescribedDevice final : public Device {
 public:
  explicit DescribedDevice(Device& inner, Kernels kernels = Kernels::run,
                           Memory memory = Memory::stays);
  ~DescribedDevice() override;
  DeviceId id() const override { return inner_.id(); }
  const Target& target() const override { return inner_.target(); }
  std::string identity() const override { return inner_.identity(); }
  std::shared_ptr<const CompiledKernel> compile(const loop::Kernel& kernel) override;
  std::string source_of(const loop::Kernel& kernel) override { return inner_.source_of(kernel); }
  std::unique_ptr<Queue> make_queue() override { return inner_.make_queue(); }
  std::shared_ptr<void> allocate(std::size_t bytes) override { return inner_.allocate(bytes); }
  std::shared_ptr<void> allocate_host(std::size_t bytes) override {
    return inner_.allocate_host(bytes);
  }
  std::unique_ptr<Arena> make_arena() override;

 private:
  struct HostBody;
  Device& inner_;
  Kernels kernels_;
  Memory memory_;
  std::mutex mutex_;  // guards bodies_
  std::map<cuda::driver_api::Function, std::unique_ptr<HostBody>> bodies_;
};

// Skips where there is neither a GPU nor what the simulation needs.
class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  // One for all tests of a process.
  static DescribedDevice& device(Kernels kernels = Kernels::run, Memory memory = Memory::stays);
};

// What was opened or allocated and not given back, by the count of calls; one line.
std::string open_handles();

// Calls of operator new by this thread, without those of the driver: allocations.cpp.
std::int64_t host_allocations();
bool inside_driver();

}  // namespace fuseline::test
