// CpuDevice and the entry point of libfuseline_cpu.
#include <cstdlib>
#include <exception>
#include <string>

#include "base/fail.hpp"
#include "device/cpu/call_library.hpp"
#include "device/cpu/host.hpp"
#include "device/cpu/kernel_table.hpp"
#include "device/cpu/queue.hpp"
#include "program/arena.hpp"
#include "program/device.hpp"

namespace fuseline::cpu {
namespace {

constexpr std::size_t memory_alignment = 256;

class CpuDevice final : public Device {
 public:
  CpuDevice() : threads_(thread_budget()) {
    const emit::CpuTraits& cpu = kernels_.traits();
    target_.kind = DeviceKind::cpu;
    target_.name = cpu.cpu;
    target_.vector_bytes = cpu.vector_bytes();
    target_.processors = threads_;
    // Measured on YOLOv8n's convolutions, oneDNN 2.6, one thread: with AVX2 blocks of eight take
    // 106 ms where all channels together take 126; with AVX-512 both take 34 ms.
    target_.channel_block = cpu.vector_bytes() >= 64 ? 0 : 8;
  }

  DeviceId id() const override { return {DeviceKind::cpu, 0}; }
  const Target& target() const override { return target_; }
  std::string identity() const override { return target_.name; }
  std::shared_ptr<const CompiledKernel> compile(const loop::Kernel& kernel) override {
    return kernels_.get(kernel);
  }
  std::vector<std::string> remarks() const override {
    CallLibrary* library = call_library();
    return {fmt::format("convolutions and matrix products: {}",
                        library ? library->describe() : "generated, which is slow")};
  }
  std::vector<DType> call_types() override {
    CallLibrary* library = call_library();
    return library ? library->types() : std::vector<DType>();
  }
  std::shared_ptr<const PreparedCall> prepare(const CallRequest& request) override {
    return call_library()->prepare(request, threads_);
  }
  std::string source_of(const loop::Kernel& kernel) override { return kernels_.source_of(kernel); }
  std::unique_ptr<Queue> make_queue() override { return std::make_unique<CpuQueue>(threads_); }

  std::shared_ptr<void> allocate(std::size_t bytes) override {
    std::size_t rounded = bytes + (memory_alignment - bytes % memory_alignment) % memory_alignment;
    void* memory = rounded < bytes
                       ? nullptr
                       : std::aligned_alloc(memory_alignment, std::max(rounded, memory_alignment));
    if (!memory) fail_device("the CPU has no {} bytes of memory left; use smaller inputs", bytes);
    return {memory, std::free};
  }
  std::unique_ptr<Arena> make_arena() override { return std::make_unique<MovingArena>(*this); }

 private:
  KernelTable kernels_;
  Target target_;
  int threads_;
};

}  // namespace
}  // namespace fuseline::cpu

extern "C" __attribute__((visibility("default"))) fuseline::Device* fuseline_open_device(
    std::uint32_t abi, int index, const char** reason) {
  static thread_local std::string why;
  if (abi != fuseline::device_abi) {
    *reason = "libfuseline_cpu belongs to another version of Fuseline; reinstall Fuseline";
    return nullptr;
  }
  if (index != 0) {
    *reason = "there is one CPU device, with index 0";
    return nullptr;
  }
  try {
    static fuseline::cpu::CpuDevice device;
    return &device;
  } catch (const std::exception& error) {
    why = error.what();
    *reason = why.c_str();
    return nullptr;
  }
}
