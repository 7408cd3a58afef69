// Kernels of the kernel group, compiled once for all sizes and all nodes of a Program.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "kernels/schedule.hpp"
#include "program/device.hpp"

namespace fuseline {

struct Kernel;

class BuiltKernels {
 public:
  explicit BuiltKernels(Device& device) : device_(device) {}
  // Thread-safe.
  std::shared_ptr<const Kernel> get(const loop::Kernel& kernel);
  int count() const;

 private:
  Device& device_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Kernel>> kernels_;  // by text
};

}  // namespace fuseline
