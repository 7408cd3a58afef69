// What tests on a CUDA device share.
#pragma once

#include <gtest/gtest.h>

#include "program/device_registry.hpp"

namespace fuseline::test {

// Skips where there is no device, with the reason.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const DeviceStatus& status : device_status())
      if (status.name == "cuda" && !status.available) GTEST_SKIP() << status.detail;
  }
};

// Device memory of a size, and copies of host data in it.
class OnDevice {
 public:
  OnDevice(Device& device, std::size_t bytes)
      : device_(device), bytes_(bytes), memory_(device.allocate(bytes)) {}
  OnDevice(Device& device, const void* data, std::size_t bytes) : OnDevice(device, bytes) {
    auto queue = device_.make_queue();
    queue->upload(memory_.get(), data, bytes);
    queue->wait();
  }
  void* data() const { return memory_.get(); }
  std::size_t bytes() const { return bytes_; }
  void download(void* to) const {
    auto queue = device_.make_queue();
    queue->download(to, memory_.get(), bytes_);
    queue->wait();
  }

 private:
  Device& device_;
  std::size_t bytes_;
  std::shared_ptr<void> memory_;
};

}  // namespace fuseline::test
