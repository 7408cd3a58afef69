// Which commands can be taken apart, and what all of them need.
#include "cli/diagnose_subject.hpp"

#include <algorithm>
#include <thread>

#include "base/fail.hpp"
#include "program/device_registry.hpp"

namespace fuseline::cli {

// An installation for a GPU alone has no CPU back end.
int processors() {
  try {
    return open_device("cpu").target().processors;
  } catch (const Error&) {
    return static_cast<int>(std::max(std::thread::hardware_concurrency(), 1u));
  }
}

Sweep measure_points(std::vector<SizePoint> points,
                     const std::vector<std::vector<std::string>>& words, BenchRunner& runner,
                     const BenchPlan& plan) {
  std::vector<RunOnce> runs;
  for (const auto& command : words) runs.push_back(runner.runs_of(command));
  std::vector<Series> all = measure_in_turn(runs, plan);
  for (std::size_t i = 0; i < all.size(); ++i) points[i].series = std::move(all[i]);
  Sweep sweep;
  sweep.points = std::move(points);
  return sweep;
}

bool is_subject(const std::vector<std::string>& words) {
  return words.front() == "mask" || words.front() == "run";
}

std::unique_ptr<Subject> subject_of(const std::vector<std::string>& words) {
  if (words.front() == "mask") return mask_subject(words);
  if (words.front() == "run") return model_subject(words);
  fail("only for `mask PICTURE...` and `run MODEL`, not for other programs");
}

}  // namespace fuseline::cli
