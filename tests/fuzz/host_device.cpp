// A CUDA device on the host.
#include "fuzz/host_device.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "emit/cuda_c/print.hpp"

namespace fuseline::fuzz {
namespace {

struct HostKernel final : CompiledKernel {
  loop::Kernel kernel;
  std::shared_ptr<host::Kernels> batch;
  std::size_t position = 0;
};

class HostQueue final : public Queue {
 public:
  explicit HostQueue(HostCudaDevice& device) : device_(device) {}
  void launch(const Launch& launch) override { device_.run(launch); }
  void fill_zero(void* memory, std::size_t bytes) override { std::memset(memory, 0, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void upload(void* to, const void* host, std::size_t bytes) override { copy(to, host, bytes); }
  void download(void* host, const void* from, std::size_t bytes) override {
    copy(host, from, bytes);
  }
  void wait() override {}
  std::string record_refusal() const override { return "simulated on the host"; }
  void begin_record() override { fail_internal("nothing is recorded on the host"); }
  std::unique_ptr<Recording> end_record() override {
    fail_internal("nothing is recorded on the host");
  }
  void cancel_record() override {}
  void begin_patch(Recording&) override { fail_internal("nothing is recorded on the host"); }
  void end_patch() override { fail_internal("nothing is recorded on the host"); }
  void replay(Recording&) override { fail_internal("nothing is recorded on the host"); }

 private:
  HostCudaDevice& device_;
};

}  // namespace

HostCudaDevice::HostCudaDevice(int block_threads) {
  target_.kind = DeviceKind::cuda;
  target_.name = "host";
  target_.vector_bytes = 16;
  target_.block_threads = block_threads;
  target_.warp = 32;
}

std::shared_ptr<const CompiledKernel> HostCudaDevice::compile(const loop::Kernel& kernel) {
  auto compiled = std::make_shared<HostKernel>();
  compiled->kernel = kernel;
  compiled->position = pending_.size();
  pending_.push_back(host::source_of(kernel));
  pending_kernels_.push_back(compiled);
  return compiled;
}

std::string HostCudaDevice::source_of(const loop::Kernel& kernel) {
  return print_cuda_body(kernel);
}
std::unique_ptr<Queue> HostCudaDevice::make_queue() { return std::make_unique<HostQueue>(*this); }

std::shared_ptr<void> HostCudaDevice::allocate(std::size_t bytes) {
  void* memory = std::aligned_alloc(256, (bytes + 256) / 256 * 256);
  if (!memory) throw std::bad_alloc();
  std::memset(memory, 0x7b, bytes);  // nothing may rely on zeros
  return {memory, std::free};
}

void HostCudaDevice::compile_pending() {
  auto batch = std::make_shared<host::Kernels>(std::move(pending_));
  for (auto& kernel : pending_kernels_) static_cast<HostKernel&>(*kernel).batch = batch;
  pending_.clear();
  pending_kernels_.clear();
}

void HostCudaDevice::run(const Launch& launch) {
  if (launch.blocks == 0) return;
  const auto& kernel = static_cast<const HostKernel&>(*launch.kernel);
  if (!kernel.batch) compile_pending();
  std::vector<host::Span> spans;
  for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
    auto width = static_cast<std::int64_t>(size_of(kernel.kernel.buffers[i].dtype));
    spans.push_back({launch.buffers[i], launch.bytes[i] / width});
  }
  std::string fault =
      kernel.batch->run(kernel.position, spans, launch.params, launch.blocks, seed_,
                        launch.threads);
  if (!fault.empty()) throw Error(fault, ErrorKind::device);
}

}  // namespace fuseline::fuzz
