// Kernels on a CUDA device.
#include "device/cuda/kernel.hpp"

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "cache/store.hpp"
#include "device/cuda/nvrtc.hpp"
#include "emit/cuda_c/print.hpp"

namespace fuseline::cuda {
namespace {

std::string architecture(int sm) {
  if (auto known = nvrtc_architecture_for(sm)) return *known;
  fail_device("this device has compute capability {}.{}, older than all that NVRTC {} compiles for",
              sm / 10, sm % 10, nvrtc_version());
}

std::string key_text(const std::string& source, const std::string& arch) {
  std::string key = fmt::format("cuda kernel 1\nnvrtc {}\narch {}\n", nvrtc_version(), arch);
  for (const char* option : nvrtc_options) key += fmt::format("option {}\n", option);
  return key + source;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

CudaKernel::~CudaKernel() {
  if (module) in_context_if_alive(context_, [&] { driver().module_unload(module); });
}

std::shared_ptr<const CudaKernel> KernelLoader::get(const loop::Kernel& kernel) {
  std::string source = print_cuda(kernel);
  std::promise<std::shared_ptr<const CudaKernel>> promise;
  {
    std::unique_lock lock(mutex_);
    auto [entry, added] = kernels_.try_emplace(source);
    if (!added) {
      Future future = entry->second;
      lock.unlock();
      return future.get();
    }
    entry->second = promise.get_future().share();
  }
  try {
    auto made = make(kernel, source);
    promise.set_value(made);
    return made;
  } catch (...) {
    promise.set_exception(std::current_exception());
    std::lock_guard lock(mutex_);
    kernels_.erase(source);  // the next caller tries again
    throw;
  }
}

std::shared_ptr<const CudaKernel> KernelLoader::make(const loop::Kernel& kernel,
                                                     const std::string& source) {
  if (auto why = nvrtc_missing(); !why.empty()) fail_device("kernels cannot be compiled: {}", why);
  auto made = std::make_shared<CudaKernel>(context_);
  std::string arch = architecture(sm_);
  auto result = cache::Store::user().get_or_make({key_text(source, arch)}, [&] {
    CompileResult compiled = compile_cuda(source, kernel.name, arch, nvrtc_options);
    if (!compiled.log.empty()) log_debug("nvrtc, kernel {}: {}", kernel.name, compiled.log);
    return bytes_of(compiled.code);
  });
  made->record.cache_hit = result.hit;
  made->record.compile_ms =
      std::chrono::duration<double, std::milli>(result.load_or_make_time).count();
  auto start = std::chrono::steady_clock::now();
  ContextScope scope(context_);
  std::string image(reinterpret_cast<const char*>(result.payload.data()), result.payload.size());
  FUSELINE_CUDA(module_load(&made->module, image.c_str()));  // PTX ends with the text's zero
  FUSELINE_CUDA(module_function(&made->function, made->module, kernel.name.c_str()));
  made->record.load_ms = ms_since(start);
  made->record.name = kernel.name;
  int registers = 0, local = 0;
  FUSELINE_CUDA(function_attribute(&registers, driver_api::function_registers, made->function));
  FUSELINE_CUDA(function_attribute(&local, driver_api::function_local_bytes, made->function));
  made->record.registers = registers;
  made->record.spill_bytes = local;
  return made;
}

}  // namespace fuseline::cuda
