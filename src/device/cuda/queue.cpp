// CudaQueue: a stream, and graphs of explicit nodes.
#include "device/cuda/queue.hpp"

#include <cstring>

#include "base/fail.hpp"
#include "device/cuda/kernel.hpp"

namespace fuseline::cuda {
namespace {

driver_api::CopyEnd host_end(const void* memory) {
  driver_api::CopyEnd end = {};
  end.memory_type = driver_api::memory_host;
  end.host = memory;
  return end;
}

const CudaKernel& kernel_of(const Launch& launch) {
  return static_cast<const CudaKernel&>(*launch.kernel);
}

unsigned grid_of(const Launch& launch) {
  constexpr std::int64_t most = 2147483647;
  if (launch.blocks > most)
    fail_device("a launch of {} blocks: CUDA takes at most {}", launch.blocks, most);
  return static_cast<unsigned>(launch.blocks);
}

}  // namespace

CudaRecording::~CudaRecording() {
  in_context_if_alive(context_, [&] {
    if (exec) driver().exec_destroy(exec);
    if (graph) driver().graph_destroy(graph);
    for (driver_api::Event point : points) driver().event_destroy(point);
  });
}

CudaQueue::CudaQueue(driver_api::Context context, bool overlaps)
    : context_(context), overlaps_(overlaps) {
  ContextScope scope(context_);
  FUSELINE_CUDA(stream_create(&own_, driver_api::stream_non_blocking));
  stream_ = own_;
}

CudaQueue::~CudaQueue() {
  in_context_if_alive(context_, [&] {
    driver().stream_wait(own_);  // nothing may still write what the owner frees next
    driver().stream_destroy(own_);
  });
}

void CudaQueue::launch(const Launch& launch) {
  if (launch.blocks == 0) return;
  values_.clear();
  for (void* buffer : launch.buffers) values_.push_back(pointer(buffer));
  values_.insert(values_.end(), launch.params.begin(), launch.params.end());
  if (mode_ != Mode::run) {
    add_kernel(launch);
    return;
  }
  ContextScope scope(context_);
  point_to(values_);
  const CudaKernel& kernel = kernel_of(launch);
  FUSELINE_CUDA(launch(kernel.function, grid_of(launch), 1, 1,
                       static_cast<unsigned>(launch.threads), 1, 1, 0, stream_, arguments_.data(),
                       nullptr));
}

void CudaQueue::point_to(std::vector<std::uint64_t>& values) {
  arguments_.clear();
  for (std::uint64_t& value : values) arguments_.push_back(&value);
}

void CudaQueue::fill_zero(void* memory, std::size_t bytes) {
  if (bytes == 0) return;
  require(mode_ == Mode::run, "memory is cleared outside recordings");
  ContextScope scope(context_);
  FUSELINE_CUDA(fill_bytes(pointer(memory), 0, bytes, stream_));
}

void CudaQueue::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (mode_ != Mode::run) return add_copy(device_end(from), device_end(to), bytes);
  ContextScope scope(context_);
  FUSELINE_CUDA(copy_on_device(pointer(to), pointer(from), bytes, stream_));
}

void CudaQueue::upload(void* to, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  if (mode_ != Mode::run) return add_copy(host_end(host), device_end(to), bytes);
  ContextScope scope(context_);
  FUSELINE_CUDA(copy_to_device(pointer(to), host, bytes, stream_));
}

void CudaQueue::download(void* host, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (mode_ != Mode::run) return add_copy(device_end(from), host_end(host), bytes);
  ContextScope scope(context_);
  FUSELINE_CUDA(copy_to_host(host, pointer(from), bytes, stream_));
}

void CudaQueue::wait() {
  ContextScope scope(context_);
  FUSELINE_CUDA(stream_wait(stream_));
}

// Only errors that stick to the context come back from a query; "not ready" is no error.
std::string CudaQueue::lost() {
  driver_api::Context popped = nullptr;
  driver_api::Result result = driver().context_push(context_);
  if (result == driver_api::success) {
    result = driver().stream_query(own_);
    driver().context_pop(&popped);
  }
  bool fine = result == driver_api::success || result == driver_api::error_not_ready;
  return fine ? std::string() : error_text(result);
}

std::uint64_t CudaQueue::memory_id(const void* memory) {
  ContextScope scope(context_);
  unsigned long long id = 0;
  driver_api::Result result =
      driver().pointer_attribute(&id, driver_api::pointer_buffer_id, pointer(memory));
  if (result == driver_api::error_invalid_value) return 0;  // pageable memory
  check(result, "pointer_attribute");
  return id;
}

void CudaQueue::use_stream(void* stream) {
  stream_ = stream ? static_cast<driver_api::Stream>(stream) : own_;
}

bool CudaQueue::is_captured() {
  ContextScope scope(context_);
  driver_api::CaptureStatus status = 0;
  FUSELINE_CUDA(stream_capture(stream_, &status));
  return status != 0;
}

// ---- recordings

void CudaQueue::begin_record() {
  require(mode_ == Mode::run, "a recording inside a recording");
  ContextScope scope(context_);
  recording_ = std::make_unique<CudaRecording>(context_);
  FUSELINE_CUDA(graph_create(&recording_->graph, 0));
  mode_ = Mode::record;
}

std::unique_ptr<Recording> CudaQueue::end_record() {
  require(mode_ == Mode::record, "no recording has begun");
  mode_ = Mode::run;
  std::unique_ptr<CudaRecording> done = std::move(recording_);
  ContextScope scope(context_);
  FUSELINE_CUDA(graph_instantiate(&done->exec, done->graph, 0));
  return done;
}

void CudaQueue::cancel_record() {
  mode_ = Mode::run;
  recording_.reset();
  patched_ = nullptr;
}

void CudaQueue::begin_patch(Recording& recording) {
  require(mode_ == Mode::run, "a recording inside a recording");
  patched_ = static_cast<CudaRecording*>(&recording);
  patch_at_ = 0;
  mode_ = Mode::patch;
}

void CudaQueue::end_patch() {
  mode_ = Mode::run;
  require(patch_at_ == patched_->steps.size(), "a patch with fewer steps than the recording");
  patched_ = nullptr;
}

void CudaQueue::replay(Recording& recording) {
  ContextScope scope(context_);
  FUSELINE_CUDA(exec_launch(static_cast<CudaRecording&>(recording).exec, stream_));
}

CudaRecording::Step& CudaQueue::next_to_patch(bool is_copy) {
  require(patch_at_ < patched_->steps.size() && patched_->steps[patch_at_].is_copy == is_copy,
          "a patch with other steps than the recording");
  return patched_->steps[patch_at_++];
}

void CudaQueue::add_kernel(const Launch& launch) {
  ContextScope scope(context_);
  if (mode_ == Mode::patch) {
    CudaRecording::Step& step = next_to_patch(false);
    if (step.values == values_) return;
    step.values = values_;
    point_to(step.values);
    step.kernel.params = arguments_.data();
    FUSELINE_CUDA(exec_set_kernel(patched_->exec, step.node, &step.kernel));
    return;
  }
  CudaRecording::Step step;
  const CudaKernel& kernel = kernel_of(launch);
  step.values = values_;
  point_to(step.values);
  step.kernel.function = kernel.function;
  step.kernel.grid_x = grid_of(launch);
  step.kernel.block_x = static_cast<unsigned>(launch.threads);
  step.kernel.grid_y = step.kernel.grid_z = step.kernel.block_y = step.kernel.block_z = 1;
  step.kernel.params = arguments_.data();
  bool overlap = overlaps_ && recording_->last_is_kernel;
  const driver_api::Node* before = overlap ? nullptr : last_node();
  FUSELINE_CUDA(
      graph_add_kernel(&step.node, recording_->graph, before, before ? 1 : 0, &step.kernel));
  if (overlap)
    FUSELINE_CUDA(graph_add_edges(recording_->graph, last_node(), &step.node,
                                  &driver_api::programmatic_edge, 1));
  recording_->last = step.node;
  recording_->last_is_kernel = true;
  recording_->steps.push_back(std::move(step));
}

// Each step waits for the one before: a Program's steps are in order.
const driver_api::Node* CudaQueue::last_node() const {
  return recording_->last ? &recording_->last : nullptr;
}

void CudaQueue::add_copy(driver_api::CopyEnd source, driver_api::CopyEnd target,
                         std::size_t bytes) {
  ContextScope scope(context_);
  driver_api::CopyNode node = {};
  node.source = source;
  node.target = target;
  node.width_bytes = bytes;
  node.height = node.depth = 1;
  if (mode_ == Mode::patch) {
    CudaRecording::Step& step = next_to_patch(true);
    if (std::memcmp(&step.copy, &node, sizeof node) == 0) return;
    step.copy = node;
    FUSELINE_CUDA(exec_set_copy(patched_->exec, step.node, &step.copy, context_));
    return;
  }
  CudaRecording::Step step;
  step.is_copy = true;
  step.copy = node;
  const driver_api::Node* before = last_node();
  FUSELINE_CUDA(
      graph_add_copy(&step.node, recording_->graph, before, before ? 1 : 0, &step.copy, context_));
  recording_->last = step.node;
  recording_->last_is_kernel = false;
  recording_->steps.push_back(std::move(step));
}

bool CudaQueue::note_time() {
  require(mode_ == Mode::record, "points of time are noted in recordings");
  ContextScope scope(context_);
  driver_api::Event point = nullptr;
  FUSELINE_CUDA(event_create(&point, 0));
  recording_->points.push_back(point);
  driver_api::Node node = nullptr;
  const driver_api::Node* before = last_node();
  FUSELINE_CUDA(graph_add_event(&node, recording_->graph, before, before ? 1 : 0, point));
  recording_->last = node;
  recording_->last_is_kernel = false;
  return true;
}

std::vector<double> CudaQueue::times_between(Recording& recording) {
  constexpr double us_per_ms = 1000;
  const auto& points = static_cast<CudaRecording&>(recording).points;
  ContextScope scope(context_);
  std::vector<double> times;
  for (std::size_t i = 1; i < points.size(); ++i) {
    float ms = 0;
    FUSELINE_CUDA(event_elapsed(&ms, points[i - 1], points[i]));
    times.push_back(us_per_ms * static_cast<double>(ms));
  }
  return times;
}

}  // namespace fuseline::cuda
