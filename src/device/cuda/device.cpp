// CudaDevice and the entry point of libfuseline_cuda.
#include <fmt/ranges.h>

#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "base/env.hpp"
#include "base/fail.hpp"
#include "device/cuda/arena.hpp"
#include "device/cuda/kernel.hpp"
#include "device/cuda/library.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/cuda/queue.hpp"
#include "emit/cuda_c/print.hpp"
#include "program/arena.hpp"
#include "program/device.hpp"

namespace fuseline::cuda {
namespace {

constexpr int block_threads = 256;  // the fastest block of the mask kernel on an H200

// The caller's current context where it belongs to the device, else the primary one, which
// libraries of the CUDA runtime use as well.
driver_api::Context choose_context(driver_api::Device device) {
  driver_api::Context context = nullptr;
  FUSELINE_CUDA(context_current(&context));
  if (context) {
    driver_api::Device owner = -1;
    FUSELINE_CUDA(context_device(&owner));
    if (owner == device) return context;
  }
  FUSELINE_CUDA(primary_retain(&context, device));
  return context;
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int index) : index_(index) {
    if (!driver().missing.empty()) fail_device("{}", driver().missing);
    int count = 0;
    FUSELINE_CUDA(device_count(&count));
    if (index >= count)
      fail_device("there is no CUDA device {}; the driver finds {}", index, count);
    FUSELINE_CUDA(device_get(&device_, index));
    context_ = choose_context(device_);
    virtual_memory_ = attribute(device_, driver_api::attribute_virtual_memory) != 0;
    char name[256] = {};
    FUSELINE_CUDA(device_name(name, sizeof name, device_));
    int sm = 10 * attribute(device_, driver_api::attribute_major) +
             attribute(device_, driver_api::attribute_minor);
    target_.kind = DeviceKind::cuda;
    target_.name = fmt::format("{} (sm_{})", name, sm);
    target_.vector_bytes = 16;
    target_.block_threads = block_threads;
    target_.warp = 32;
    target_.processors = attribute(device_, driver_api::attribute_processors);
    target_.sm = sm;
    loader_ = std::make_unique<KernelLoader>(context_, sm);
    if (auto why = nvrtc_missing(); !why.empty())
      fail_device("kernels cannot be compiled: {}", why);
  }

  DeviceId id() const override { return {DeviceKind::cuda, index_}; }
  const Target& target() const override { return target_; }
  std::string identity() const override {
    return fmt::format("{}, driver {}, NVRTC {}", target_.name, driver().driver_version,
                       nvrtc_version());
  }
  std::vector<std::string> remarks() const override;
  DeviceFacts facts() const override;
  std::shared_ptr<const CompiledKernel> compile(const loop::Kernel& kernel) override {
    return loader_->get(kernel);
  }
  std::string source_of(const loop::Kernel& kernel) override { return print_cuda(kernel); }
  std::unique_ptr<Queue> make_queue() override {
    bool overlaps = target_.sm >= 90 && driver().graph_add_edges != nullptr;
    return std::make_unique<CudaQueue>(context_, overlaps);
  }

  std::shared_ptr<void> allocate(std::size_t bytes) override {
    ContextScope scope(context_);
    driver_api::Pointer memory = 0;
    driver_api::Result result = driver().memory_allocate(&memory, std::max<std::size_t>(bytes, 1));
    if (result == driver_api::error_out_of_memory) fail_out_of_memory(target_.name, bytes);
    check(result, "memory_allocate");
    return {reinterpret_cast<void*>(memory), [context = context_](void* freed) {
              in_context_if_alive(context, [&] { driver().memory_free(pointer(freed)); });
            }};
  }

  std::shared_ptr<void> allocate_host(std::size_t bytes) override {
    ContextScope scope(context_);
    void* memory = nullptr;
    driver_api::Result result =
        driver().host_allocate(&memory, std::max<std::size_t>(bytes, 1), driver_api::host_portable);
    if (result == driver_api::error_out_of_memory)
      fail_device("the host has no {} bytes left that can be pinned; use smaller buffers", bytes);
    check(result, "host_allocate");
    return {memory, [context = context_](void* freed) {
              in_context_if_alive(context, [&] { driver().host_free(freed); });
            }};
  }

  std::unique_ptr<Arena> make_arena() override {
    if (!virtual_memory_) return std::make_unique<MovingArena>(*this);
    return std::make_unique<CudaArena>(context_, device_, target_.name);
  }

 private:
  int index_;
  driver_api::Device device_ = 0;
  driver_api::Context context_ = nullptr;
  bool virtual_memory_ = false;
  Target target_;
  std::unique_ptr<KernelLoader> loader_;
};

// The control daemon of the Multi-Process Service keeps its pipe in this folder.
bool served_by_mps() {
  std::error_code missing;
  std::filesystem::path folder = std::filesystem::temp_directory_path(missing) / "nvidia-mps";
  if (auto named = env(EnvVar::mps_pipe_directory)) folder = *named;
  return std::filesystem::exists(folder / "control", missing);
}

std::vector<std::string> CudaDevice::remarks() const {
  int version = driver().driver_version;
  std::vector<std::string> lines = {fmt::format("driver for CUDA {}.{}, NVRTC {}", version / 1000,
                                                version % 1000 / 10, nvrtc_version())};
  for (const std::string& copy : other_nvrtc_copies())
    lines.push_back(fmt::format("another NVRTC, not used: {}", copy));
  auto runtimes = loaded_libraries("libcudart.so");
  if (runtimes.size() > 1)
    lines.push_back(fmt::format("{} CUDA runtimes in one process: {}", runtimes.size(),
                                fmt::join(runtimes, ", ")));
  if (served_by_mps())
    lines.push_back("the Multi-Process Service shares the device with other processes");
  if (attribute(device_, driver_api::attribute_compute_mode) != 0)
    lines.push_back("the compute mode is not the default one: one process at a time, or none");
  return lines;
}

DeviceFacts CudaDevice::facts() const {
  // Data move at both edges of the clock.
  constexpr double transfers = 2, bits_per_byte = 8, khz_bytes_to_gb = 1e3 / 1e9;
  DeviceFacts facts;
  double khz = attribute(device_, driver_api::attribute_memory_clock);
  double bits = attribute(device_, driver_api::attribute_memory_width);
  if (khz > 0 && bits > 0)
    facts.memory_gb_per_s = transfers * khz * bits / bits_per_byte * khz_bytes_to_gb;
  if (int bytes = attribute(device_, driver_api::attribute_cache_bytes)) facts.cache_bytes = bytes;
  char bus[32] = {};
  FUSELINE_CUDA(device_bus_id(bus, sizeof bus, device_));
  facts.bus_id = bus;
  return facts;
}

Device& opened(int index) {
  static std::mutex mutex;
  // Never destroyed: the driver may be gone when static objects are.
  static auto* devices = new std::map<int, std::unique_ptr<CudaDevice>>;
  std::lock_guard lock(mutex);
  auto& device = (*devices)[index];
  if (!device) device = std::make_unique<CudaDevice>(index);
  return *device;
}

}  // namespace
}  // namespace fuseline::cuda

extern "C" __attribute__((visibility("default"))) fuseline::Device* fuseline_open_device(
    std::uint32_t abi, int index, const char** reason) {
  static thread_local std::string why;
  if (abi != fuseline::device_abi) {
    *reason = "libfuseline_cuda belongs to another version of Fuseline; reinstall Fuseline";
    return nullptr;
  }
  try {
    return &fuseline::cuda::opened(index);
  } catch (const std::exception& error) {
    why = error.what();
    *reason = why.c_str();
    return nullptr;
  }
}
