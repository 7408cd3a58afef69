// An Arena of plain allocations: what devices without address reservations use.
#pragma once

#include <algorithm>

#include "program/device.hpp"

namespace fuseline {

class MovingArena final : public Arena {
 public:
  explicit MovingArena(Device& device) : device_(device) {}
  void* grow(std::size_t bytes) override {
    if (bytes <= bytes_) return memory_.get();
    memory_.reset();  // both at once might not fit
    bytes_ = 0;
    memory_ = device_.allocate(bytes);
    bytes_ = bytes;
    return memory_.get();
  }
  bool moves() const override { return true; }

 private:
  Device& device_;
  std::shared_ptr<void> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace fuseline
