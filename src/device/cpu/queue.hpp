// CpuQueue: blocks of a kernel over the threads of the process; work is done when a call returns.
#pragma once

#include "program/device.hpp"

namespace fuseline::cpu {

class CpuQueue final : public Queue {
 public:
  explicit CpuQueue(int threads) : threads_(threads) {}

  void launch(const Launch& launch) override;
  void call(const PreparedCall& call, std::span<void* const> buffers) override;
  void fill_zero(void* memory, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void upload(void* to, const void* host, std::size_t bytes) override { copy(to, host, bytes); }
  void download(void* host, const void* from, std::size_t bytes) override {
    copy(host, from, bytes);
  }
  void wait() override {}
  std::string record_refusal() const override;
  void begin_record() override;
  std::unique_ptr<Recording> end_record() override;
  void cancel_record() override {}
  void begin_patch(Recording& recording) override;
  void end_patch() override;
  void replay(Recording& recording) override;

 private:
  int threads_;
};

}  // namespace fuseline::cpu
