// Lane: runs whose steps are timed on the device, from recordings of their own.
#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "program/program_impl.hpp"

namespace fuseline {

void Lane::Impl::mark(StepTime::Kind kind, std::string_view name, double bytes, int times) {
  if (!marking_) return;
  queue_->note_time();
  marking_->steps.push_back({kind, std::string(name), bytes, 0, times});
}

void Lane::Impl::execute_timed(const std::shared_ptr<const Instance>& instance) {
  note_addresses();
  if (!timed_ || timed_->instance != instance || timed_->addresses != addresses_) {
    timed_ = std::make_unique<TimedRecording>();
    timed_->instance = instance;
    timed_->addresses = addresses_;
    marking_ = timed_.get();
    try {
      queue_->begin_record();
      queue_->note_time();
      schedule(*instance);
      timed_->recording = queue_->end_record();
    } catch (...) {
      queue_->cancel_record();
      marking_ = nullptr;
      timed_.reset();
      throw;
    }
    marking_ = nullptr;
  }
  queue_->replay(*timed_->recording);
}

std::vector<StepTime> Lane::Impl::timed(const TensorMap& inputs, const TensorMap& outputs) {
  struct OrdinaryRunsAgain {
    bool& timing;
    ~OrdinaryRunsAgain() { timing = false; }
  } at_end{timing_};
  timing_ = true;
  run(inputs, outputs);
  std::vector<StepTime> steps = timed_->steps;
  std::vector<double> times = queue_->times_between(*timed_->recording);
  require(times.size() == steps.size(), "a point of time behind every step");
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i].us = times[i] / steps[i].times;
  return steps;
}

std::vector<StepTime> Lane::Impl::run_timed(const TensorMap& inputs, const TensorMap& outputs) {
  if (!queue_->record_refusal().empty()) return {};
  if (!repeats_.empty()) timed_.reset();
  repeats_.clear();
  return timed(inputs, outputs);
}

std::vector<StepTime> Lane::Impl::run_repeated(const TensorMap& inputs, const TensorMap& outputs,
                                               double least_us) {
  constexpr double most = 1000;  // no launch is shorter than a microsecond
  std::vector<StepTime> once = run_timed(inputs, outputs);
  if (once.empty()) return {};
  for (const StepTime& step : once)
    if (step.kind == StepTime::Kind::kernel)
      repeats_.push_back(
          static_cast<int>(std::clamp(std::ceil(least_us / std::max(step.us, 0.1)), 1.0, most)));
  timed_.reset();
  std::vector<StepTime> steps = timed(inputs, outputs);
  timed_.reset();
  repeats_.clear();
  return steps;
}

}  // namespace fuseline
