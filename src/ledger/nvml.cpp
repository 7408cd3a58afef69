// The few calls of NVML that the ledger makes.
#include "ledger/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "base/env.hpp"

namespace fuseline {
namespace {

using Device = void*;
constexpr int success = 0;

struct Memory {
  unsigned long long total, free, used;
};
struct Process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};

// Opened in the folders of FUSELINE_LIBRARY_PATH first, then where the system looks.
void* open_library() {
  constexpr const char* name = "libnvidia-ml.so.1";
  std::istringstream folders(env(EnvVar::library_path).value_or(""));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (void* handle = dlopen((folder + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

class Nvml {
 public:
  Nvml() : handle_(open_library()) { ready_ = handle_ && call<int()>("nvmlInit_v2") == success; }
  ~Nvml() {
    if (ready_) call<int()>("nvmlShutdown");
    if (handle_) dlclose(handle_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool found() const { return handle_; }
  bool ready() const { return ready_; }

  // The status of the call; not success where this version lacks it.
  template <class Signature, class... Args>
  int call(const char* name, Args... args) const {
    auto* function = reinterpret_cast<Signature*>(dlsym(handle_, name));
    return function ? function(args...) : -1;
  }
  template <class Value>
  std::optional<Value> ask(const char* name, Device device) const {
    Value value{};
    if (call<int(Device, Value*)>(name, device, &value) != success) return std::nullopt;
    return value;
  }
  std::string text(const char* name, Device device) const {
    std::array<char, 96> buffer{};
    int status = call<int(Device, char*, unsigned)>(name, device, buffer.data(),
                                                    static_cast<unsigned>(buffer.size()));
    return status == success ? buffer.data() : "";
  }
  std::optional<unsigned> clock(Device device, int type) const {
    unsigned value = 0;
    if (call<int(Device, int, unsigned*)>("nvmlDeviceGetClockInfo", device, type, &value))
      return {};
    return value;
  }

 private:
  void* handle_;
  bool ready_ = false;
};

std::optional<std::vector<std::string>> throttle_reasons(const Nvml& nvml, Device device) {
  using Bits = unsigned long long;
  constexpr std::pair<Bits, const char*> names[] = {
      {0x4, "power cap"},         {0x8, "hardware slowdown"},       {0x10, "sync boost"},
      {0x20, "thermal slowdown"}, {0x40, "hardware thermal limit"}, {0x80, "power brake"}};
  auto bits = nvml.ask<Bits>("nvmlDeviceGetCurrentClocksEventReasons", device);
  if (!bits) bits = nvml.ask<Bits>("nvmlDeviceGetCurrentClocksThrottleReasons", device);
  if (!bits) return std::nullopt;
  std::vector<std::string> reasons;
  for (const auto& [bit, name] : names)
    if (*bits & bit) reasons.emplace_back(name);
  return reasons;
}

std::optional<unsigned> other_processes(const Nvml& nvml, Device device) {
  std::array<Process, 256> processes{};
  auto count = static_cast<unsigned>(processes.size());
  if (nvml.call<int(Device, unsigned*, Process*)>("nvmlDeviceGetComputeRunningProcesses_v3", device,
                                                  &count, processes.data()) != success)
    return std::nullopt;
  auto others = std::count_if(processes.begin(), processes.begin() + count, [](const Process& p) {
    return p.pid != static_cast<unsigned>(::getpid());
  });
  return static_cast<unsigned>(others);
}

std::optional<bool> mig_mode(const Nvml& nvml, Device device) {
  unsigned now = 0, next = 0;
  if (nvml.call<int(Device, unsigned*, unsigned*)>("nvmlDeviceGetMigMode", device, &now, &next))
    return std::nullopt;
  return now != 0;
}

GpuState read_gpu(const Nvml& nvml, Device device) {
  constexpr int sm = 1, memory = 2, gpu_sensor = 0;
  GpuState state;
  state.name = nvml.text("nvmlDeviceGetName", device);
  state.uuid = nvml.text("nvmlDeviceGetUUID", device);
  state.sm_clock_mhz = nvml.clock(device, sm);
  state.memory_clock_mhz = nvml.clock(device, memory);
  unsigned temperature = 0;
  if (nvml.call<int(Device, int, unsigned*)>("nvmlDeviceGetTemperature", device, gpu_sensor,
                                             &temperature) == success)
    state.temperature_c = temperature;
  if (auto power = nvml.ask<unsigned>("nvmlDeviceGetPowerUsage", device))
    state.power_w = *power / 1000.0;
  if (auto energy = nvml.ask<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption", device))
    state.energy_j = static_cast<double>(*energy) / 1000.0;
  if (auto used = nvml.ask<Memory>("nvmlDeviceGetMemoryInfo", device))
    state.memory_used = used->used;
  state.mig = mig_mode(nvml, device);
  state.throttle_reasons = throttle_reasons(nvml, device);
  state.other_processes = other_processes(nvml, device);
  return state;
}

std::vector<Device> devices_of(const Nvml& nvml) {
  std::vector<Device> devices;
  unsigned count = 0;
  nvml.call<int(unsigned*)>("nvmlDeviceGetCount_v2", &count);
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    if (nvml.call<int(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2", i, &device) == success)
      devices.push_back(device);
  }
  return devices;
}

}  // namespace

struct GpuWatch::Impl {
  Nvml nvml;
  std::vector<Device> devices = nvml.ready() ? devices_of(nvml) : std::vector<Device>();
};

GpuWatch::GpuWatch() : impl_(std::make_unique<Impl>()) {}
GpuWatch::~GpuWatch() = default;

std::optional<GpuUse> GpuWatch::look() const {
  constexpr int sm = 1;
  if (impl_->devices.empty()) return std::nullopt;
  GpuUse all;
  for (Device device : impl_->devices) {
    auto memory = impl_->nvml.ask<Memory>("nvmlDeviceGetMemoryInfo", device);
    if (!memory) return std::nullopt;
    all.memory_used += memory->used;
    if (auto clock = impl_->nvml.clock(device, sm))
      all.sm_clock_mhz = std::max(all.sm_clock_mhz.value_or(0), *clock);
  }
  return all;
}

GpuReport read_gpus() {
  GpuReport report;
  Nvml nvml;
  if (!nvml.ready()) {
    report.why_none =
        nvml.found() ? "libnvidia-ml.so.1 finds no driver" : "libnvidia-ml.so.1 was not found";
    return report;
  }
  std::array<char, 96> driver{};
  if (nvml.call<int(char*, unsigned)>("nvmlSystemGetDriverVersion", driver.data(),
                                      static_cast<unsigned>(driver.size())) == success)
    report.driver = driver.data();
  int cuda = 0;
  if (nvml.call<int(int*)>("nvmlSystemGetCudaDriverVersion_v2", &cuda) == success)
    report.cuda = fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10);
  for (Device device : devices_of(nvml)) report.gpus.push_back(read_gpu(nvml, device));
  if (report.gpus.empty()) report.why_none = "the driver lists no GPU";
  return report;
}

double PcieLink::gb_per_s() const {
  // Gigabytes a second of one lane, by generation from 1 on: transfers less the line code.
  constexpr double lane[] = {0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
  if (generation < 1 || generation > std::size(lane)) return 0;
  return lane[generation - 1] * width;
}

struct GpuProbe::Impl {
  Nvml nvml;
  Device device = nullptr;
};

GpuProbe::GpuProbe(const std::string& bus_id) : impl_(std::make_unique<Impl>()) {
  if (impl_->nvml.ready() &&
      impl_->nvml.call<int(const char*, Device*)>("nvmlDeviceGetHandleByPciBusId_v2",
                                                  bus_id.c_str(), &impl_->device) != success)
    impl_->device = nullptr;
}
GpuProbe::~GpuProbe() = default;

std::optional<unsigned> GpuProbe::sm_clock_mhz() const {
  constexpr int sm = 1;
  if (!impl_->device) return std::nullopt;
  return impl_->nvml.clock(impl_->device, sm);
}

std::optional<PcieLink> GpuProbe::link() const {
  if (!impl_->device) return std::nullopt;
  auto generation = impl_->nvml.ask<unsigned>("nvmlDeviceGetMaxPcieLinkGeneration", impl_->device);
  auto width = impl_->nvml.ask<unsigned>("nvmlDeviceGetMaxPcieLinkWidth", impl_->device);
  PcieLink link{generation.value_or(0), width.value_or(0)};
  if (link.gb_per_s() <= 0) return std::nullopt;
  return link;
}

}  // namespace fuseline
