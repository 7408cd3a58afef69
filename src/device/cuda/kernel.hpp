// Kernels on a CUDA device: compiled by NVRTC, kept in the cache, loaded as modules.
#pragma once

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "device/cuda/driver.hpp"
#include "program/device.hpp"

namespace fuseline::cuda {

class CudaKernel final : public CompiledKernel {
 public:
  explicit CudaKernel(driver_api::Context context) : context_(context) {}
  ~CudaKernel() override;

  driver_api::Module module = nullptr;
  driver_api::Function function = nullptr;

 private:
  driver_api::Context context_;
};

class KernelLoader {
 public:
  KernelLoader(driver_api::Context context, int sm) : context_(context), sm_(sm) {}
  // Thread-safe: one thread compiles a kernel while others wait for it or compile other ones.
  std::shared_ptr<const CudaKernel> get(const loop::Kernel& kernel);

 private:
  using Future = std::shared_future<std::shared_ptr<const CudaKernel>>;
  std::shared_ptr<const CudaKernel> make(const loop::Kernel& kernel, const std::string& source);

  driver_api::Context context_;
  int sm_;
  std::mutex mutex_;  // guards kernels_
  std::map<std::string, Future> kernels_;
};

}  // namespace fuseline::cuda
