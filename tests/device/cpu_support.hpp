// Runs cases of Loop IR on the CPU device; many kernels are compiled side by side.
#pragma once

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "program/device_registry.hpp"
#include "support/loop_case.hpp"

namespace fuseline::test {

// Not the user's cache, unless somebody names a folder.
inline const int own_cache =
    setenv("FUSELINE_CACHE_DIR", FUSELINE_BINARY_DIR "/tests/kernel-cache", 0);

using CompiledKernels = std::vector<std::shared_ptr<const CompiledKernel>>;

inline CompiledKernels compile_all(Device& device, const std::vector<LoopCase>& cases) {
  CompiledKernels kernels(cases.size());
  std::vector<std::string> errors(cases.size());
  std::atomic<std::size_t> next = 0;
  auto work = [&] {
    for (std::size_t i = next++; i < cases.size(); i = next++) try {
        kernels[i] = device.compile(cases[i].kernel);
      } catch (const std::exception& error) {
        errors[i] = error.what();
      }
  };
  std::vector<std::jthread> threads;
  for (int t = 0; t < device.target().processors; ++t) threads.emplace_back(work);
  threads.clear();
  for (std::size_t i = 0; i < cases.size(); ++i)
    EXPECT_TRUE(kernels[i]) << cases[i].kernel.name << ": " << errors[i];
  return kernels;
}

// Buffers as a device gives them, between bytes that no kernel may touch.
class GuardedMemory {
 public:
  GuardedMemory(Device& device, const Bytes& bytes)
      : size_(bytes.size()), memory_(device.allocate(2 * guard + size_)) {
    std::memset(memory_.get(), guard_byte, 2 * guard + size_);
    if (size_ > 0) std::memcpy(data(), bytes.data(), size_);
  }
  std::uint8_t* data() const { return static_cast<std::uint8_t*>(memory_.get()) + guard; }
  Bytes bytes() const { return Bytes(data(), data() + size_); }
  bool intact() const {
    for (std::size_t i = 0; i < guard; ++i)
      if (data()[size_ + i] != guard_byte || (data() - guard)[i] != guard_byte) return false;
    return true;
  }

 private:
  static constexpr std::size_t guard = 256;
  static constexpr std::uint8_t guard_byte = 0xa7;
  std::size_t size_;
  std::shared_ptr<void> memory_;
};

inline void run_case(Device& device, const CompiledKernel& kernel, const LoopCase& c) {
  std::vector<GuardedMemory> memory;
  std::vector<void*> pointers;
  for (const Bytes& before : c.before) {
    memory.emplace_back(device, before);
    pointers.push_back(memory.back().data());
  }
  auto queue = device.make_queue();
  queue->launch({.kernel = &kernel, .buffers = pointers, .params = c.params, .blocks = c.blocks});
  queue->wait();
  std::vector<Bytes> got;
  for (const GuardedMemory& m : memory) {
    got.push_back(m.bytes());
    EXPECT_TRUE(m.intact()) << c.kernel.name << " wrote outside its buffers";
  }
  EXPECT_TRUE(matches(c, got));
}

inline void run_on_cpu(const std::vector<LoopCase>& cases) {
  Device& device = open_device("cpu");
  CompiledKernels kernels = compile_all(device, cases);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (kernels[i]) run_case(device, *kernels[i], cases[i]);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace fuseline::test
