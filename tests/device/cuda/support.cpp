// The CUDA back end behind the stand-in driver.
#include "device/cuda/support.hpp"

#include <dlfcn.h>

#include <atomic>
#include <filesystem>
#include <optional>

#include "base/env.hpp"
#include "device/cuda/kernel.hpp"
#include "emit/cuda_c/host/host.hpp"
#include "program/arena.hpp"
#include "program/device_registry.hpp"

namespace fuseline::test {
namespace {

// Set when the stand-in is there; operator new must not wait for it.
std::atomic<bool (*)()> inside{nullptr};

// Beside the test program, which may have been moved.
std::string own_folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

void* standin_library() {
  static void* library = dlopen((own_folder() + "/cuda_driver/libcuda.so.1").c_str(), RTLD_NOW);
  if (!library) throw std::runtime_error(dlerror());
  return library;
}

Standin open_standin() {
  std::string folder = own_folder() + "/cuda_driver";
  std::string others = env(EnvVar::library_path).value_or("");
  set_env(EnvVar::library_path, others.empty() ? folder : folder + ":" + others);
  if (!env(EnvVar::cache_dir)) set_env(EnvVar::cache_dir, own_folder() + "/kernel-cache");
  if (!env(EnvVar::log)) set_env(EnvVar::log, "error");  // failed recordings are no news here
  Standin standin;
  void* library = standin_library();
#define FUSELINE_STANDIN_FIND(result, name, parameters) \
  standin.name = reinterpret_cast<decltype(standin.name)>(dlsym(library, "standin_" #name));
  FUSELINE_STANDIN_CONTROLS(FUSELINE_STANDIN_FIND)
#undef FUSELINE_STANDIN_FIND
  inside = standin.inside;
  return standin;
}

std::string why_no_device() {
  for (const DeviceStatus& status : device_status())
    if (status.name == "cuda" && !status.available) return status.detail;
  return standin().simulated() ? host::compiler_missing() : "";
}

}  // namespace

const Standin& standin() {
  static const Standin opened = open_standin();
  return opened;
}

const DriverCalls& driver_calls() {
  static const DriverCalls calls = [] {
    DriverCalls found;
#define FUSELINE_STANDIN_FIND(member, symbol, name, parameters) \
  found.member =                                                \
      reinterpret_cast<cuda::driver_api::member##_fn*>(dlsym(standin_library(), #symbol));
    FUSELINE_DRIVER_SYMBOLS(FUSELINE_STANDIN_FIND)
#undef FUSELINE_STANDIN_FIND
    return found;
  }();
  return calls;
}

CallerStream::CallerStream() {
  cuda::driver_api::Context popped = nullptr;
  EXPECT_EQ(driver_calls().primary_retain(&context_, 0), cuda::driver_api::success);
  EXPECT_EQ(driver_calls().context_push(context_), cuda::driver_api::success);
  EXPECT_EQ(driver_calls().stream_create(&stream_, cuda::driver_api::stream_non_blocking),
            cuda::driver_api::success);
  driver_calls().context_pop(&popped);
}

CallerStream::~CallerStream() {
  cuda::driver_api::Context popped = nullptr;
  driver_calls().context_push(context_);
  driver_calls().stream_destroy(stream_);
  driver_calls().context_pop(&popped);
}

void CallerStream::wait() const {
  cuda::driver_api::Context popped = nullptr;
  driver_calls().context_push(context_);
  EXPECT_EQ(driver_calls().stream_wait(stream_), cuda::driver_api::success);
  driver_calls().context_pop(&popped);
}

bool inside_driver() {
  auto* ask = inside.load();
  return ask && ask();
}

// ---- kernels on simulated memory

struct DescribedDevice::HostBody {
  loop::Kernel kernel;
  std::optional<host::Kernels> compiled;
  std::string fault;

  std::vector<const loop::Buffer*> pointers() const {
    std::vector<const loop::Buffer*> all;
    for (const loop::Buffer& buffer : kernel.buffers)
      if (buffer.space == loop::Space::global) all.push_back(&buffer);
    return all;
  }

  static const char* run(void* user, const std::uint64_t* values, std::int64_t blocks,
                         int threads) {
    auto& self = *static_cast<HostBody*>(user);
    auto pointers = self.pointers();
    std::vector<host::Span> spans;
    for (std::size_t i = 0; i < pointers.size(); ++i)
      spans.push_back(
          {reinterpret_cast<void*>(values[i]),
           standin().room_at(values[i]) / static_cast<std::int64_t>(size_of(pointers[i]->dtype))});
    std::span params(values + pointers.size(), self.kernel.params.size());
    if (!self.compiled) self.compiled.emplace(std::vector{host::source_of(self.kernel)});
    self.fault = self.compiled->run(0, spans, params, blocks, 0, threads);
    return self.fault.empty() ? nullptr : self.fault.c_str();
  }
};

DescribedDevice::DescribedDevice(Device& inner, Kernels kernels, Memory memory)
    : inner_(inner), kernels_(kernels), memory_(memory) {}
DescribedDevice::~DescribedDevice() = default;

std::shared_ptr<const CompiledKernel> DescribedDevice::compile(const loop::Kernel& kernel) {
  auto compiled = inner_.compile(kernel);
  auto function = static_cast<const cuda::CudaKernel&>(*compiled).function;
  std::lock_guard lock(mutex_);
  auto& body = bodies_[function];
  if (body) return compiled;
  body = std::make_unique<HostBody>(HostBody{kernel, {}, {}});
  std::size_t pointers = body->pointers().size();
  standin().describe(function, pointers, pointers + kernel.params.size(),
                     kernels_ == Kernels::run ? HostBody::run : nullptr, body.get());
  return compiled;
}

std::unique_ptr<Arena> DescribedDevice::make_arena() {
  if (memory_ == Memory::moves) return std::make_unique<MovingArena>(*this);
  return inner_.make_arena();
}

// ---- the test's surroundings

void CudaTest::SetUp() {
  standin();
  static const std::string why = why_no_device();
  if (!why.empty()) GTEST_SKIP() << why;
}

void CudaTest::TearDown() {
  standin().fail_at(nullptr, 0, 0, false);
  if (!standin().simulated()) return;
  EXPECT_STREQ(standin().misuse(), "");
  EXPECT_EQ(standin().pending(), 0) << "work is still in flight";
  EXPECT_EQ(standin().context_depth(), 0);
}

DescribedDevice& CudaTest::device(Kernels kernels, Memory memory) {
  // Never destroyed: kernels stay with the device itself.
  static auto* devices = new std::map<std::pair<Kernels, Memory>, std::unique_ptr<DescribedDevice>>;
  auto& device = (*devices)[{kernels, memory}];
  if (!device) device = std::make_unique<DescribedDevice>(open_device("cuda"), kernels, memory);
  return *device;
}

std::string open_handles() {
  std::string text;
  for (auto [made, ended] : {std::pair{"cuMemAlloc", "cuMemFree"},
                             {"cuStreamCreate", "cuStreamDestroy"},
                             {"cuGraphCreate", "cuGraphDestroy"},
                             {"cuGraphInstantiate", "cuGraphExecDestroy"},
                             {"cuEventCreate", "cuEventDestroy"},
                             {"cuMemAddressReserve", "cuMemAddressFree"},
                             {"cuMemCreate", "cuMemRelease"},
                             {"cuMemMap", "cuMemUnmap"}})
    text += std::string(made) + " " + std::to_string(standin().done(made) - standin().done(ended)) +
            "; ";
  if (standin().simulated())
    text += std::to_string(standin().memory_in_use()) + " bytes; context depth " +
            std::to_string(standin().context_depth());
  return text;
}

}  // namespace fuseline::test
