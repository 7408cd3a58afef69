// The CUDA driver, opened at run time, and the checks around its calls.
#pragma once

#include <source_location>
#include <string>

#include "device/cuda/driver_api.hpp"

namespace fuseline::cuda {

struct Driver {
#define FUSELINE_DRIVER_MEMBER(member, symbol, name, parameters) \
  driver_api::member##_fn* member = nullptr;
  FUSELINE_DRIVER_SYMBOLS(FUSELINE_DRIVER_MEMBER)
  FUSELINE_DRIVER_OPTIONAL_SYMBOLS(FUSELINE_DRIVER_MEMBER)
#undef FUSELINE_DRIVER_MEMBER
  std::string missing;  // why it cannot be used; empty where it can
  int driver_version = 0;
};

// Opened once. Check `missing` before use.
const Driver& driver();

// "CUDA_ERROR_OUT_OF_MEMORY: out of memory"
std::string error_text(driver_api::Result result);
// Throws Error (device): the call, its error name and text, and where.
void check(driver_api::Result result, const char* call,
           std::source_location where = std::source_location::current());

// Throws Error (device): how much was asked for, and how much the current context has free.
[[noreturn]] void fail_out_of_memory(const std::string& device_name, std::size_t bytes);

#define FUSELINE_CUDA(call) ::fuseline::cuda::check(::fuseline::cuda::driver().call, #call)

// Makes a context current for a scope. The caller's own current context is left as it was.
class ContextScope {
 public:
  explicit ContextScope(driver_api::Context context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  bool pushed_ = false;
};

// For destructors, which have nobody to tell: does the work in the context unless that is gone, as
// it can be at the end of the process, and everything in it with it.
template <class Work>
void in_context_if_alive(driver_api::Context context, Work&& work) {
  driver_api::Context popped = nullptr;
  if (driver().context_push(context) != driver_api::success) return;
  work();
  driver().context_pop(&popped);
}

int attribute(driver_api::Device device, driver_api::Attribute which);

inline driver_api::Pointer pointer(const void* memory) {
  return reinterpret_cast<driver_api::Pointer>(memory);
}
// The end of a copy node that lies in device memory.
driver_api::CopyEnd device_end(const void* memory);

}  // namespace fuseline::cuda
