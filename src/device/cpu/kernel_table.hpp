// KernelTable: every kernel of the process compiled once, from the cache on disk where possible.
#pragma once

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "device/cpu/object_image.hpp"
#include "emit/llvm/codegen.hpp"
#include "program/device.hpp"

namespace fuseline::cpu {

class CpuKernel final : public CompiledKernel {
 public:
  emit::KernelFunction* function = nullptr;
  std::unique_ptr<ObjectImage> image;  // owns the code where ORC does not
};

class KernelTable {
 public:
  // Thread-safe: one thread compiles a kernel while others wait for it or compile other ones.
  std::shared_ptr<const CpuKernel> get(const loop::Kernel& kernel);
  // LLVM IR as text.
  std::string source_of(const loop::Kernel& kernel);
  const emit::CpuTraits& traits();

 private:
  using Future = std::shared_future<std::shared_ptr<const CpuKernel>>;

  std::shared_ptr<const CpuKernel> make(const loop::Kernel& kernel, const std::string& text);
  std::string key_text(const std::string& kernel_text);

  std::mutex mutex_;  // guards kernels_
  std::map<std::string, Future> kernels_;
  std::once_flag traits_once_;
  emit::CpuTraits traits_;
};

}  // namespace fuseline::cpu
