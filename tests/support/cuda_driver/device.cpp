// Device, contexts and errors of the simulation.
#include <cstring>
#include <utility>
#include <vector>

#include "support/cuda_driver/simulated.hpp"

struct CUctx_st {};

namespace fuseline::standin {
namespace {

struct ErrorText {
  Result result;
  const char *name, *text;
};
constexpr ErrorText error_texts[] = {
    {success, "CUDA_SUCCESS", "no error"},
    {error_invalid_value, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {error_out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {error_invalid_context, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {error_no_binary, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available"},
    {error_invalid_handle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {error_not_ready, "CUDA_ERROR_NOT_READY", "device not ready"},
    {error_illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {error_launch_failed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {error_not_supported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {error_captured, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "not permitted while capturing"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

CUctx_st primary;

std::vector<Context>& contexts() {
  thread_local std::vector<Context> stack;
  return stack;
}

}  // namespace

std::recursive_mutex& SimulatedDevice::mutex() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

std::string& misuse_text() {
  static auto* text = new std::string;
  return *text;
}

Result misuse(const std::string& what, Result result) {
  misuse_text() += what + "\n";
  return result;
}

Result& device_fault() {
  static Result fault = success;
  return fault;
}

Result usable() {
  if (device_fault() != success) return device_fault();
  return contexts().empty() ? misuse("a call without a context", error_invalid_context) : success;
}

std::int64_t context_depth() { return static_cast<std::int64_t>(contexts().size()); }

Result cuGetErrorName(SimulatedDevice, Result result, const char** name) {
  for (const ErrorText& error : error_texts)
    if (error.result == result) return *name = error.name, success;
  return *name = nullptr, error_invalid_value;
}

Result cuGetErrorString(SimulatedDevice, Result result, const char** text) {
  for (const ErrorText& error : error_texts)
    if (error.result == result) return *text = error.text, success;
  return *text = nullptr, error_invalid_value;
}

Result cuInit(SimulatedDevice, unsigned) { return success; }

Result cuDriverGetVersion(SimulatedDevice, int* version) {
  *version = 13000;
  return success;
}

Result cuDeviceGetCount(SimulatedDevice, int* count) {
  *count = 1;
  return success;
}

Result cuDeviceGet(SimulatedDevice, Device* device, int index) {
  *device = index;
  return index == 0 ? success : error_invalid_value;
}

Result cuDeviceGetName(SimulatedDevice, char* name, int bytes, Device) {
  std::strncpy(name, "Simulated device", static_cast<std::size_t>(bytes) - 1);
  return success;
}

Result cuDeviceGetPCIBusId(SimulatedDevice, char* text, int bytes, Device) {
  std::strncpy(text, "0000:01:00.0", static_cast<std::size_t>(bytes) - 1);
  return success;
}

Result cuDeviceGetAttribute(SimulatedDevice, int* value, Attribute which, Device) {
  static constexpr std::pair<Attribute, int> values[] = {
      {attribute_processors, 4},     {attribute_major, 9},
      {attribute_virtual_memory, 1}, {attribute_memory_clock, 1000000},
      {attribute_memory_width, 512}, {attribute_cache_bytes, 1 << 20}};
  *value = 0;
  for (auto [attribute, known] : values)
    if (attribute == which) *value = known;
  return success;
}

Result cuDevicePrimaryCtxRetain(SimulatedDevice, Context* context, Device) {
  *context = &primary;
  return device_fault();
}

Result cuCtxGetCurrent(SimulatedDevice, Context* context) {
  *context = contexts().empty() ? nullptr : contexts().back();
  return success;
}

Result cuCtxGetDevice(SimulatedDevice, Device* device) {
  *device = 0;
  return contexts().empty() ? error_invalid_context : success;
}

Result cuCtxPushCurrent_v2(SimulatedDevice, Context context) {
  if (context != &primary) return misuse("no context was made current", error_invalid_context);
  contexts().push_back(context);
  return success;
}

Result cuCtxPopCurrent_v2(SimulatedDevice, Context* context) {
  if (contexts().empty()) return misuse("a context too many was popped", error_invalid_context);
  *context = contexts().back();
  contexts().pop_back();
  return success;
}

}  // namespace fuseline::standin
