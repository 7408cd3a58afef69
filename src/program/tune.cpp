// Measured launch shapes.
#include "program/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <numeric>
#include <optional>

#include "base/json.hpp"
#include "base/log.hpp"
#include "cache/store.hpp"
#include "fuseline/error.hpp"

namespace fuseline {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t alignment = 256;
// Sets of buffers that take turns, so that a large frame is not found in the second-level cache.
constexpr std::size_t buffer_sets = 3;
constexpr int usual_rounds = 5;
constexpr double round_us = 400;  // of replays: far above the cost of a launch

// Buffers for the trials: every buffer once a set, all zero.
class Scratch {
 public:
  Scratch(Device& device, Queue& queue, const std::vector<TrialBuffer>& buffers) {
    std::int64_t at = 0;
    for (std::size_t set = 0; set < buffer_sets; ++set)
      for (const TrialBuffer& buffer : buffers) {
        offsets_.push_back(at + buffer.origin);
        at += (buffer.bytes + alignment) / alignment * alignment;
      }
    memory_ = device.allocate(static_cast<std::size_t>(at));
    queue.fill_zero(memory_.get(), static_cast<std::size_t>(at));
    queue.wait();
    for (const TrialBuffer& buffer : buffers) bytes_.push_back(buffer.bytes - buffer.origin);
  }
  std::vector<void*> set(std::size_t position) const {
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      pointers.push_back(static_cast<char*>(memory_.get()) +
                         offsets_[position * bytes_.size() + i]);
    return pointers;
  }
  const std::vector<std::int64_t>& bytes() const { return bytes_; }

 private:
  std::shared_ptr<void> memory_;
  std::vector<std::int64_t> offsets_, bytes_;
};

class Race {
 public:
  Race(Device& device, const std::vector<TrialBuffer>& buffers)
      : queue_(device.make_queue()), scratch_(device, *queue_, buffers) {}

  // Trials take turns, so that a change of the clock meets all of them.
  std::vector<double> run(const std::vector<ShapeTrial>& trials, int rounds) {
    std::vector<std::unique_ptr<Recording>> recordings;
    for (const ShapeTrial& trial : trials) recordings.push_back(record(trial));
    double once = replay(*recordings[0], 1);
    int replays = std::clamp(static_cast<int>(round_us / std::max(once, 1.0)), 1, 100);
    std::vector<double> best(trials.size(), 0);
    for (int round = 0; round < rounds; ++round)
      for (std::size_t i = 0; i < trials.size(); ++i) {
        double us = replay(*recordings[i], replays) / (replays * static_cast<int>(buffer_sets));
        best[i] = round == 0 ? us : std::min(best[i], us);
      }
    return best;
  }

 private:
  std::unique_ptr<Recording> record(const ShapeTrial& trial) {
    queue_->begin_record();
    for (std::size_t set = 0; set < buffer_sets; ++set) {
      std::vector<void*> pointers = scratch_.set(set);
      queue_->launch({trial.kernel, pointers, scratch_.bytes(), trial.params, trial.blocks,
                      trial.shape.threads});
    }
    return queue_->end_record();
  }

  double replay(Recording& recording, int times) {
    queue_->replay(recording);
    queue_->wait();
    auto start = Clock::now();
    for (int i = 0; i < times; ++i) queue_->replay(recording);
    queue_->wait();
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  }

  std::unique_ptr<Queue> queue_;
  Scratch scratch_;
};

// A shape must win by more than the noise of such a short race.
constexpr double margin = 0.99;

Json measure(Device& device, const Trials& all) {
  const std::vector<ShapeTrial>& trials = all.trials;
  std::vector<double> us = race(device, all, usual_rounds);
  auto best = static_cast<std::size_t>(std::min_element(us.begin(), us.end()) - us.begin());
  if (us[best] > margin * us[0]) best = 0;
  Json answer;
  answer["winner"] = best;
  for (std::size_t i = 0; i < trials.size(); ++i)
    answer["trials"].push_back(
        {{"threads", trials[i].shape.threads}, {"groups", trials[i].shape.groups}, {"us", us[i]}});
  return answer;
}

std::optional<std::size_t> winner_of(const std::vector<std::byte>& payload, std::size_t trials) {
  auto* text = reinterpret_cast<const char*>(payload.data());
  Json answer = Json::parse(text, text + payload.size(), nullptr, false);
  if (!answer.is_object() || !answer.contains("winner")) return std::nullopt;
  if (!answer["winner"].is_number_unsigned() || answer["winner"] >= trials) return std::nullopt;
  return answer["winner"].get<std::size_t>();
}

}  // namespace

std::int64_t Trials::bytes() const {
  std::int64_t bytes = 0;
  for (const TrialBuffer& buffer : buffers) bytes += buffer.bytes;
  return bytes;
}

std::vector<double> race(Device& device, const Trials& trials, int rounds) {
  static std::mutex one_race;  // two at once would slow each other
  std::lock_guard lock(one_race);
  return Race(device, trials.buffers).run(trials.trials, rounds);
}

std::size_t choose_shape(Device& device, const std::string& question, const Trials& all) {
  const std::vector<ShapeTrial>& trials = all.trials;
  std::string key = fmt::format("launch shape 1\n{}\n", device.identity());
  for (const ShapeTrial& trial : trials)
    key += fmt::format("trial {} x {}\n", trial.shape.threads, trial.shape.groups);
  try {
    auto result = cache::Store::choices().get_or_make({key + question}, [&] {
      std::string text = json_text(measure(device, all));
      log_debug("launch shapes of {}: {}", trials[0].kernel->record.name, text);
      auto* bytes = reinterpret_cast<const std::byte*>(text.data());
      return std::vector<std::byte>(bytes, bytes + text.size());
    });
    return winner_of(result.payload, trials.size()).value_or(0);
  } catch (const Error& error) {  // of memory, as a rule; what is worse meets the run as well
    log_info("launch shapes of {} are not measured: {}", trials[0].kernel->record.name,
             error.what());
    return 0;
  }
}

}  // namespace fuseline
