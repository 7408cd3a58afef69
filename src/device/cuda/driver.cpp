// The CUDA driver, opened at run time.
#include "device/cuda/driver.hpp"

#include "base/fail.hpp"
#include "device/cuda/library.hpp"

namespace fuseline::cuda {
namespace {

Driver open_driver() {
  static constexpr const char* names[] = {"libcuda.so.1"};
  Driver d;
  Library library(names);
#define FUSELINE_DRIVER_RESOLVE(member, symbol, name, parameters) \
  library.resolve(d.member, #symbol);
  FUSELINE_DRIVER_SYMBOLS(FUSELINE_DRIVER_RESOLVE)
#undef FUSELINE_DRIVER_RESOLVE
#define FUSELINE_DRIVER_RESOLVE(member, symbol, name, parameters) \
  library.resolve_optional(d.member, #symbol);
  FUSELINE_DRIVER_OPTIONAL_SYMBOLS(FUSELINE_DRIVER_RESOLVE)
#undef FUSELINE_DRIVER_RESOLVE
  if (!library) {
    d.missing = "no NVIDIA driver: " + library.reason();
    return d;
  }
  int devices = 0;
  driver_api::Result result = d.init(0);
  if (result == driver_api::success) result = d.device_count(&devices);
  if (result != driver_api::success) {
    const char* text = nullptr;
    d.error_text(result, &text);
    d.missing =
        fmt::format("the NVIDIA driver finds no usable device: {}", text ? text : "unknown error");
  } else if (devices == 0) {
    d.missing = "the NVIDIA driver finds no device";
  }
  d.version(&d.driver_version);
  return d;
}

}  // namespace

const Driver& driver() {
  static const Driver opened = open_driver();
  return opened;
}

std::string error_text(driver_api::Result result) {
  const char *name = nullptr, *text = nullptr;
  driver().error_name(result, &name);
  driver().error_text(result, &text);
  return fmt::format("{}: {}", name ? name : "unknown error", text ? text : "no text");
}

void check(driver_api::Result result, const char* call, std::source_location where) {
  if (result == driver_api::success) return;
  std::string_view file = where.file_name();
  if (auto src = file.rfind("src/"); src != std::string_view::npos) file.remove_prefix(src);
  fail_device("CUDA call {} failed: {} ({}:{})", call, error_text(result), file, where.line());
}

void fail_out_of_memory(const std::string& device_name, std::size_t bytes) {
  std::size_t free = 0, total = 0;
  driver().memory_info(&free, &total);
  fail_device("{} has no {} bytes of memory left ({} of {} are free); use smaller inputs",
              device_name, bytes, free, total);
}

int attribute(driver_api::Device device, driver_api::Attribute which) {
  int value = 0;
  FUSELINE_CUDA(device_attribute(&value, which, device));
  return value;
}

driver_api::CopyEnd device_end(const void* memory) {
  driver_api::CopyEnd end = {};
  end.memory_type = driver_api::memory_device;
  end.device = pointer(memory);
  return end;
}

ContextScope::ContextScope(driver_api::Context context) {
  driver_api::Context current = nullptr;
  FUSELINE_CUDA(context_current(&current));
  if (current == context) return;
  FUSELINE_CUDA(context_push(context));
  pushed_ = true;
}

ContextScope::~ContextScope() {
  driver_api::Context popped = nullptr;
  if (pushed_) driver().context_pop(&popped);  // a destructor has nobody to tell
}

}  // namespace fuseline::cuda
