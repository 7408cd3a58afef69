// Lane: launching a run step by step, or recorded: cold -> warm -> recorded -> disabled(reason).
#include "base/fail.hpp"
#include "base/log.hpp"
#include "program/program_impl.hpp"

namespace fuseline {

void Lane::Impl::launch(const Step& step) {
  bind(step);
  Launch launch{step.kernel->compiled.get(), pointers_, bytes_, step.params, step.blocks};
  if (!observer) {
    queue_->launch(launch);
    return;
  }
  auto begin = Observer::Clock::now();
  queue_->launch(launch);
  queue_->wait();
  observer->on_kernel(step.kernel->lowered.kernel.name, begin, Observer::Clock::now());
}

// Everything of one run, in order. Between begin_record and end_record it is noted instead of done.
void Lane::Impl::schedule(const Instance& instance) {
  for (const External& input : inputs_)
    if (input.host) queue_->upload(input.staged, input.host, input.copy_bytes);
  if (observer) queue_->wait();  // a kernel's time must not hold the copies before it
  for (const Step& step : instance.steps) launch(step);
  // One value under several names is computed once and copied.
  const auto& names = program->graph.outputs();
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (names[i].value == names[j].value) {
        bool empty = element_count(instance.output_shapes[i]) == 0;
        if (!empty)
          queue_->copy(outputs_[i].device, outputs_[j].device,
                       static_cast<std::size_t>(outputs_[j].bytes));
        break;
      }
  for (const External& output : outputs_)
    if (output.host)
      queue_->download(const_cast<void*>(output.host), output.staged, output.copy_bytes);
}

RecordState& Lane::Impl::state_of(const std::shared_ptr<const Instance>& instance) {
  for (auto state = states_.begin(); state != states_.end(); ++state)
    if (state->instance == instance) {
      states_.splice(states_.begin(), states_, state);
      return states_.front();
    }
  states_.push_front({instance});
  if (states_.size() > max_recordings) states_.pop_back();
  return states_.front();
}

std::vector<const void*> Lane::Impl::addresses() const {
  std::vector<const void*> all;
  for (const std::vector<External>* externals : {&inputs_, &outputs_})
    for (const External& external : *externals) {
      all.push_back(external.device);
      all.push_back(external.host);
    }
  return all;
}

void Lane::Impl::record(RecordState& state) {
  queue_->begin_record();
  try {
    schedule(*state.instance);
    state.recording = queue_->end_record();
    state.addresses = addresses();
  } catch (const Error& error) {
    queue_->cancel_record();
    state.disabled = error.what();
    log_warn("a recording failed, its size runs launch by launch: {}", state.disabled);
  }
}

void Lane::Impl::execute(const std::shared_ptr<const Instance>& instance) {
  Record mode = program->options.record;
  bool recordable = !observer && mode != Record::off && queue_->record_refusal().empty();
  if (!recordable) {
    schedule(*instance);
    queue_->wait();
    return;
  }
  RecordState& state = state_of(instance);
  bool wanted = state.runs++ > 0 || mode == Record::on;
  if (wanted && !state.recording && state.disabled.empty()) {
    record(state);
  } else if (state.recording) {
    std::vector<const void*> now = addresses();
    if (now != state.addresses) {
      queue_->begin_patch(*state.recording);
      schedule(*instance);
      queue_->end_patch();
      state.addresses = std::move(now);
    }
  }
  if (state.recording)
    queue_->replay(*state.recording);
  else
    schedule(*instance);
  queue_->wait();
}

}  // namespace fuseline
