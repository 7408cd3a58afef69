// The registry of devices: libfuseline_cpu.so and libfuseline_cuda.so, each opened when asked for.
#include "program/device_registry.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <charconv>
#include <map>
#include <mutex>

#include "base/fail.hpp"

namespace fuseline {
namespace {

struct BackEnd {
  DeviceKind kind;
  const char* name;
  const char* library;
  const char* advice;  // what to do where the library is missing
};

constexpr BackEnd cpu_back_end{DeviceKind::cpu, "cpu", "libfuseline_cpu.so",
                               "reinstall Fuseline: its CPU back end is missing"};
constexpr BackEnd cuda_back_end{DeviceKind::cuda, "cuda", "libfuseline_cuda.so",
                                "this installation has no CUDA back end; use --device cpu"};

// The folder of libfuseline.so, with its slash; empty where it is unknown.
std::string own_folder() {
  Dl_info here{};
  if (!dladdr(reinterpret_cast<const void*>(&open_device), &here) || !here.dli_fname) return {};
  std::string path = here.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

void* open_library(const BackEnd& back_end, std::string& reason) {
  std::string path = own_folder() + back_end.library;
  struct stat file {};
  bool beside = stat(path.c_str(), &file) == 0;
  void* library = dlopen(beside ? path.c_str() : back_end.library, RTLD_NOW | RTLD_LOCAL);
  if (library) return library;
  const char* error = dlerror();
  reason = beside ? fmt::format("{}; install what is missing", error)
                  : fmt::format("{} not found; {}", back_end.library, back_end.advice);
  return nullptr;
}

struct Opened {
  Device* device = nullptr;
  std::string reason;  // where there is no device
};

Opened open_from_library(const BackEnd& back_end, int index) {
  Opened result;
  void* library = open_library(back_end, result.reason);
  if (!library) return result;
  auto* open = reinterpret_cast<OpenDevice*>(dlsym(library, open_device_symbol));
  const char* why = nullptr;
  if (open) result.device = open(device_abi, index, &why);
  if (!result.device)
    result.reason = why ? why
                        : fmt::format(
                              "{} is not a back end of this version; "
                              "reinstall Fuseline",
                              back_end.library);
  return result;
}

class Registry {
 public:
  const Opened& open(const BackEnd& back_end, int index) {
    std::lock_guard lock(mutex_);
    auto [entry, added] = opened_.try_emplace({back_end.kind, index});
    if (added) entry->second = open_from_library(back_end, index);
    return entry->second;
  }

 private:
  std::mutex mutex_;  // guards opened_; held while a library is opened
  std::map<std::pair<DeviceKind, int>, Opened> opened_;
};

Registry& registry() {
  // Never destroyed: kernels and queues may outlive static objects.
  static auto* instance = new Registry;
  return *instance;
}

Device& need(const BackEnd& back_end, int index) {
  const Opened& opened = registry().open(back_end, index);
  if (!opened.device) fail_device("device {} cannot be used: {}", back_end.name, opened.reason);
  return *opened.device;
}

int parse_index(std::string_view name, std::string_view digits) {
  int index = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty() || index < 0)
    fail("\"{}\" is no device; use auto, cpu, cuda or cuda:N", name);
  return index;
}

std::string describe(const Target& target) {
  if (target.kind == DeviceKind::cuda)
    return fmt::format("{}, {} multiprocessors", target.name, target.processors);
  return fmt::format("{}, {}-bit vectors, {} thread{}", target.name, 8 * target.vector_bytes,
                     target.processors, target.processors == 1 ? "" : "s");
}

}  // namespace

Device& open_device(std::string_view name) {
  if (name == "auto") {
    const Opened& cuda = registry().open(cuda_back_end, 0);
    return cuda.device ? *cuda.device : need(cpu_back_end, 0);
  }
  if (name == "cpu") return need(cpu_back_end, 0);
  if (name == "cuda") return need(cuda_back_end, 0);
  if (name.starts_with("cuda:")) return need(cuda_back_end, parse_index(name, name.substr(5)));
  fail("\"{}\" is no device; use auto, cpu, cuda or cuda:N", name);
}

std::vector<DeviceStatus> device_status() {
  std::vector<DeviceStatus> rows;
  for (const BackEnd* back_end : {&cpu_back_end, &cuda_back_end}) {
    const Opened& opened = registry().open(*back_end, 0);
    rows.push_back({back_end->name, opened.device != nullptr,
                    opened.device ? describe(opened.device->target()) : opened.reason,
                    opened.device ? opened.device->remarks() : std::vector<std::string>()});
  }
  return rows;
}

}  // namespace fuseline
