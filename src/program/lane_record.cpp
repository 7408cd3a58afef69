// Lane: launching a run step by step, or recorded: cold -> warm -> recorded -> disabled(reason).
#include <algorithm>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "nvtx/client.hpp"
#include "program/program_impl.hpp"

namespace fuseline {

void Lane::Impl::start(const Step& step) {
  bind(step);
  if (step.call) return queue_->call(*step.call, pointers_);
  queue_->launch({step.kernel->compiled.get(), pointers_, bytes_, step.params, step.blocks,
                  step.shape.threads});
}

void Lane::Impl::launch(const Step& step) {
  nvtx::Range range(step.name());
  if (!observer && !check_each_) return start(step);
  checked_ = &step;
  auto begin = Observer::Clock::now();
  start(step);
  queue_->wait();
  checked_ = nullptr;
  if (observer) observer->on_kernel(step.name(), begin, Observer::Clock::now());
}

// Everything of one run, in order. Between begin_record and end_record it is noted instead of done.
void Lane::Impl::schedule(const Instance& instance) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const External& input = inputs_[i];
    if (!input.host) continue;
    queue_->upload(input.staged, input.host, input.copy_bytes);
    mark(StepTime::Kind::upload, program->graph.inputs()[i].name,
         static_cast<double>(input.copy_bytes));
  }
  if (observer) queue_->wait();  // a kernel's time must not hold the copies before it
  for (std::size_t i = 0; i < instance.steps.size(); ++i) {
    const Step& step = instance.steps[i];
    int times = repeats_.empty() ? 1 : repeats_[i];
    for (int n = 0; n < times; ++n) launch(step);
    mark(StepTime::Kind::kernel, step.name(), 0, times);
  }
  // One value under several names is computed once and copied.
  const auto& names = program->graph.outputs();
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (names[i].value == names[j].value) {
        bool empty = element_count(instance.output_shapes[i]) == 0;
        if (!empty)
          queue_->copy(outputs_[i].device, outputs_[j].device,
                       static_cast<std::size_t>(outputs_[j].bytes));
        mark(StepTime::Kind::copy, names[i].name, static_cast<double>(outputs_[j].bytes));
        break;
      }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const External& output = outputs_[i];
    if (!output.host) continue;
    queue_->download(const_cast<void*>(output.host), output.staged, output.copy_bytes);
    mark(StepTime::Kind::download, names[i].name, static_cast<double>(output.copy_bytes));
  }
}

RecordState& Lane::Impl::state_of(const std::shared_ptr<const Instance>& instance) {
  for (auto state = states_.begin(); state != states_.end(); ++state)
    if (state->instance == instance) {
      states_.splice(states_.begin(), states_, state);
      return states_.front();
    }
  states_.push_front({instance});
  if (states_.size() > max_states) states_.pop_back();
  return states_.front();
}

void Lane::Impl::note_addresses() {
  addresses_.clear();
  for (const std::vector<External>* externals : {&inputs_, &outputs_})
    for (const External& external : *externals) {
      const void* copied = external.host     ? external.host
                           : copies_outputs_ ? external.device
                                             : nullptr;
      std::uint64_t id = copied ? queue_->memory_id(copied) : 0;
      addresses_.push_back({external.device, external.host, id});
    }
}

// A tensor in host memory has a copy among the steps, one on the device has none.
bool Lane::Impl::can_patch(const BoundRecording& bound) const {
  for (std::size_t i = 0; i < addresses_.size(); ++i)
    if ((addresses_[i].host == nullptr) != (bound.addresses[i].host == nullptr)) return false;
  return true;
}

void Lane::Impl::patch(BoundRecording& bound, const Instance& instance) {
  queue_->begin_patch(*bound.recording);
  schedule(instance);
  queue_->end_patch();
  bound.addresses = addresses_;
}

// The recording for the addresses of this run; nullptr where recording failed, now or before.
Recording* Lane::Impl::recording_for(RecordState& state) {
  if (!state.disabled.empty()) return nullptr;
  std::list<BoundRecording>& all = state.recordings;
  note_addresses();
  auto known = std::find_if(all.begin(), all.end(),
                            [&](const auto& bound) { return bound.addresses == addresses_; });
  try {
    if (known == all.end() && all.size() == max_recordings && !can_patch(all.back()))
      all.pop_back();
    if (known == all.end() && all.size() < max_recordings) {
      nvtx::Range range("record");
      queue_->begin_record();
      schedule(*state.instance);
      known = all.insert(all.begin(), {addresses_, queue_->end_record()});
    } else if (known == all.end()) {
      known = std::prev(all.end());
      patch(*known, *state.instance);
    }
    all.splice(all.begin(), all, known);
    return known->recording.get();
  } catch (const Error& error) {
    queue_->cancel_record();
    if (!queue_->lost().empty()) throw;
    all.clear();
    state.disabled = error.what();
    log_warn("a recording failed, its size runs launch by launch: {}", state.disabled);
    return nullptr;
  }
}

void Lane::Impl::execute(const std::shared_ptr<const Instance>& instance) {
  if (timing_) return execute_timed(instance);
  Record mode = program->options.record;
  bool recordable = !observer && !check_each_ && !captured_ && mode != Record::off &&
                    queue_->record_refusal().empty();
  if (!recordable) return schedule(*instance);
  RecordState& state = state_of(instance);
  bool wanted = state.runs++ > 0 || mode == Record::on;
  Recording* recording = wanted ? recording_for(state) : nullptr;
  if (!recording) return schedule(*instance);
  nvtx::Range range("replay");
  queue_->replay(*recording);
}

}  // namespace fuseline
