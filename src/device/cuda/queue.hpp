// CudaQueue: one stream, and the recordings that replay on it.
#pragma once

#include <vector>

#include "device/cuda/driver.hpp"
#include "program/device.hpp"

namespace fuseline::cuda {

// A chain of kernels and copies as a CUDA graph of explicit nodes, so that addresses can be
// changed without instantiating again.
class CudaRecording final : public Recording {
 public:
  explicit CudaRecording(driver_api::Context context) : context_(context) {}
  ~CudaRecording() override;

  struct Step {
    driver_api::Node node = nullptr;
    bool is_copy = false;
    driver_api::KernelNode kernel = {};
    driver_api::CopyNode copy = {};
    std::vector<std::uint64_t> values;  // what the kernel's arguments are
  };
  driver_api::Graph graph = nullptr;
  driver_api::Exec exec = nullptr;
  std::vector<Step> steps;
  std::vector<driver_api::Event> points;  // of time
  driver_api::Node last = nullptr;        // each node waits for the one before
  bool last_is_kernel = false;

 private:
  driver_api::Context context_;
};

class CudaQueue final : public Queue {
 public:
  // `overlaps`: kernels wait for their inputs themselves (await_inputs in emit/cuda_c), so a
  // recording may start each while the one before it ends.
  CudaQueue(driver_api::Context context, bool overlaps);
  ~CudaQueue() override;

  void launch(const Launch& launch) override;
  void fill_zero(void* memory, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void upload(void* to, const void* host, std::size_t bytes) override;
  void download(void* host, const void* from, std::size_t bytes) override;
  void wait() override;
  std::string lost() override;
  std::uint64_t memory_id(const void* memory) override;
  void use_stream(void* stream) override;
  bool is_captured() override;
  std::string record_refusal() const override { return {}; }
  void begin_record() override;
  std::unique_ptr<Recording> end_record() override;
  void cancel_record() override;
  void begin_patch(Recording& recording) override;
  void end_patch() override;
  void replay(Recording& recording) override;
  bool note_time() override;
  std::vector<double> times_between(Recording& recording) override;

 private:
  enum class Mode : std::uint8_t { run, record, patch };
  void add_kernel(const Launch& launch);
  void point_to(std::vector<std::uint64_t>& values);  // fills arguments_
  void add_copy(driver_api::CopyEnd source, driver_api::CopyEnd target, std::size_t bytes);
  CudaRecording::Step& next_to_patch(bool is_copy);

  const driver_api::Node* last_node() const;

  driver_api::Context context_;
  bool overlaps_;
  driver_api::Stream own_ = nullptr;
  driver_api::Stream stream_ = nullptr;  // where work goes: own_, or one of the caller's
  Mode mode_ = Mode::run;
  std::unique_ptr<CudaRecording> recording_;
  CudaRecording* patched_ = nullptr;
  std::size_t patch_at_ = 0;
  std::vector<std::uint64_t> values_;
  std::vector<void*> arguments_;
};

}  // namespace fuseline::cuda
