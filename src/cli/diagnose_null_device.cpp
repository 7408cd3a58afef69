// Kernels lose their bodies, or queues their launches.
#include "cli/diagnose_null_device.hpp"

namespace fuseline::cli {
namespace {

class QueueWithoutCalls final : public Queue {
 public:
  QueueWithoutCalls(std::unique_ptr<Queue> queue, bool launches)
      : queue_(std::move(queue)), launches_(launches) {}

  void launch(const Launch& launch) override {
    if (launches_) queue_->launch(launch);
  }
  void call(const PreparedCall&, std::span<void* const>) override {}
  void fill_zero(void* memory, std::size_t bytes) override { queue_->fill_zero(memory, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    queue_->copy(to, from, bytes);
  }
  void upload(void* to, const void* host, std::size_t bytes) override {
    queue_->upload(to, host, bytes);
  }
  void download(void* host, const void* from, std::size_t bytes) override {
    queue_->download(host, from, bytes);
  }
  void wait() override { queue_->wait(); }
  std::string lost() override { return queue_->lost(); }
  std::uint64_t memory_id(const void* memory) override { return queue_->memory_id(memory); }
  void use_stream(void* stream) override { queue_->use_stream(stream); }
  bool is_captured() override { return queue_->is_captured(); }
  std::string record_refusal() const override { return queue_->record_refusal(); }
  void begin_record() override { queue_->begin_record(); }
  std::unique_ptr<Recording> end_record() override { return queue_->end_record(); }
  void cancel_record() override { queue_->cancel_record(); }
  void begin_patch(Recording& recording) override { queue_->begin_patch(recording); }
  void end_patch() override { queue_->end_patch(); }
  void replay(Recording& recording) override { queue_->replay(recording); }

 private:
  std::unique_ptr<Queue> queue_;
  bool launches_;
};

}  // namespace

loop::Kernel without_body(const loop::Kernel& kernel) {
  loop::Kernel null = kernel;
  null.name += "_null";
  null.body = {};
  return null;
}

std::shared_ptr<const CompiledKernel> NullKernelDevice::compile(const loop::Kernel& kernel) {
  return device_.compile(without_body(kernel));
}

std::string NullKernelDevice::source_of(const loop::Kernel& kernel) {
  return device_.source_of(without_body(kernel));
}

std::unique_ptr<Queue> NullKernelDevice::make_queue() {
  return std::make_unique<QueueWithoutCalls>(device_.make_queue(), true);
}

std::unique_ptr<Queue> NoKernelDevice::make_queue() {
  return std::make_unique<QueueWithoutCalls>(device_.make_queue(), false);
}

}  // namespace fuseline::cli
