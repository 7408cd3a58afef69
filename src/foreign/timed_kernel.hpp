// A foreign kernel on device memory that somebody else keeps: for measuring, behind its check.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "foreign/contract.hpp"
#include "foreign/source_text.hpp"

namespace fuseline::foreign {

class TimedKernel {
 public:
  // `image` is what NVRTC made for CUDA device `index`. Throws Error (device).
  TimedKernel(const std::string& image, const Contract& contract, const LaunchWish& wish,
              int index);
  ~TimedKernel();
  TimedKernel(const TimedKernel&) = delete;
  TimedKernel& operator=(const TimedKernel&) = delete;

  // Sizes of the launches from now on.
  void bind(const DimBindings& sizes);
  // Clears what the contract promises to be zero and launches, with the addresses of the arguments
  // in the contract's order. Returns without waiting.
  void launch(std::span<void* const> arguments);
  // Throws Error (device) where the kernel failed.
  void wait();
  // A CUstream of the device's primary context.
  void* stream() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuseline::foreign
