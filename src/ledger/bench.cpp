// Warming up, series, interleaved blocks.
#include "ledger/bench.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/fail.hpp"
#include "ledger/run_watch.hpp"
#include "ledger/stage_file.hpp"

namespace fuseline {
namespace {

double milliseconds(Nanoseconds time) { return static_cast<double>(time) / 1e6; }

// The time that a measurement has used: that of the clock, or of its runs where they are longer
// (runs that are played back take no time).
class Budget {
 public:
  explicit Budget(double seconds) : seconds_(seconds) {}
  void spend(const RunSample& sample) { runs_ += static_cast<double>(sample.account.wall) / 1e9; }
  double share() const {
    double clock = static_cast<double>(monotonic_now() - begin_) / 1e9;
    return seconds_ > 0 ? std::max(clock, runs_) / seconds_ : 1;
  }

 private:
  double seconds_;
  double runs_ = 0;
  Nanoseconds begin_ = monotonic_now();
};

void report(const BenchPlan& plan, double share) {
  if (plan.progress) plan.progress(std::min(share, 1.0));
}

RunSample take(const RunOnce& run, const BenchPlan& plan, Budget& budget) {
  if (plan.between_runs) plan.between_runs();
  RunSample sample = run();
  budget.spend(sample);
  return sample;
}

constexpr std::size_t windows = 3, window = fewest_to_tell_steady / windows;

// Whether the last three windows agree: no two of their medians are further apart than the noise
// within windows lets two medians of five differ, or than a share that never matters.
bool windows_agree(const std::vector<double>& times, double least_share) {
  if (times.size() < window * windows) return false;
  // A median of five varies by 1.198 / sqrt(5) of the deviation; the MAD is 0.6745 of it. Three
  // standard errors of a difference.
  constexpr double allowed = 3 * 1.41421356 * 0.53577 / 0.67448975;
  std::vector<double> medians, deviations;
  for (std::size_t w = 0; w < windows; ++w) {
    std::span<const double> part(times.data() + times.size() - (windows - w) * window, window);
    medians.push_back(median(part));
    for (double time : part) deviations.push_back(std::abs(time - medians.back()));
  }
  auto [low, high] = std::minmax_element(medians.begin(), medians.end());
  double noise = std::max(median(deviations), least_share * *low / allowed);
  return *high - *low <= allowed * noise;
}

// What has to come to rest before measuring: times, and clocks where they are told.
class Settling {
 public:
  void add(const RunSample& sample) {
    times_.push_back(milliseconds(sample.account.wall));
    for (const char* name : {seen::cpu_mhz, seen::gpu_mhz})
      if (auto found = sample.seen.find(name); found != sample.seen.end())
        clocks_[name].push_back(found->second);
  }
  // Empty where all is at rest.
  std::string moving() const {
    constexpr double time_share = 0.005, clock_share = 0.02;
    std::string names;
    auto add = [&](const char* name) {
      names += (names.empty() ? "the " : " and the ") + std::string(name);
    };
    if (!windows_agree(times_, time_share)) add("times");
    for (const auto& [name, clocks] : clocks_)
      // A clock that was not seen in every run cannot be judged.
      if (clocks.size() == times_.size() && !windows_agree(clocks, clock_share))
        add(name == seen::cpu_mhz ? "CPU clock" : "GPU clock");
    return names;
  }

 private:
  std::vector<double> times_;
  std::map<std::string, std::vector<double>> clocks_;
};

// The relative half-width of the interval of the median.
double half_width(const Estimate& estimate) {
  return estimate.value > 0 ? (estimate.high - estimate.low) / 2 / estimate.value : 0;
}

// Looks at the interval at sizes that grow by a quarter, so that looking costs little.
class PrecisionGate {
 public:
  explicit PrecisionGate(const BenchPlan& plan) : plan_(plan) {}
  template <class Interval>
  bool reached(std::size_t runs, Interval interval) {
    if (plan_.precision <= 0 || runs < next_) return false;
    next_ = runs + std::max<std::size_t>(runs / 4, 1);
    return half_width(interval()) <= plan_.precision;
  }

 private:
  const BenchPlan& plan_;
  std::size_t next_ = 15;  // intervals of fewer are too often too narrow
};

Estimate ratio_of_blocks(const Series& before, const Series& after) {
  std::vector<BlockPair> blocks;
  for (std::size_t i = 0; i + 1 < before.wall.size(); i += 2)
    blocks.push_back({before.wall[i] + before.wall[i + 1], after.wall[i] + after.wall[i + 1]});
  return paired_ratio(blocks);
}

constexpr double warm_share = 0.2;  // of the plan's time

BenchPlan part_of(const BenchPlan& plan, double share) {
  BenchPlan part = plan;
  part.seconds *= share;
  return part;
}

void one_block(SideBySide& sides, const RunOnce& before, const RunOnce& after,
               const BenchPlan& plan, Budget& budget, std::mt19937_64& engine) {
  bool order[] = {true, true, false, false};
  for (std::size_t i = std::size(order) - 1; i > 0; --i)
    std::swap(order[i], order[engine() % (i + 1)]);
  for (bool is_before : order)
    (is_before ? sides.before : sides.after).add(take(is_before ? before : after, plan, budget));
}

}  // namespace

std::vector<double> Series::row(const std::string& name) const {
  auto found = std::find(row_names.begin(), row_names.end(), name);
  if (found == row_names.end()) return std::vector<double>(wall.size(), 0.0);
  return rows[static_cast<std::size_t>(found - row_names.begin())];
}

void Series::add(const RunSample& sample) {
  std::size_t runs = wall.size();
  for (const ClosedAccount::Row& row : sample.account.rows) {
    auto found = std::find(row_names.begin(), row_names.end(), row.name);
    auto index = static_cast<std::size_t>(found - row_names.begin());
    if (found == row_names.end()) {
      row_names.push_back(row.name);
      rows.emplace_back(runs, 0.0);
    }
    rows[index].resize(runs);
    rows[index].push_back(milliseconds(row.time));
  }
  for (const ClosedAccount::Busy& one : sample.account.busy) {
    busy[one.stage].resize(runs);
    busy[one.stage].push_back(milliseconds(one.time));
  }
  auto use = [&](const char* name, const std::optional<double>& value) {
    if (value) resources[name].push_back(*value);
  };
  use("user", sample.user_seconds);
  use("system", sample.system_seconds);
  use("peak", sample.peak_bytes);
  for (const auto& [name, value] : sample.seen) resources[name].push_back(value);
  keep_trace(sample);
  wall.push_back(milliseconds(sample.account.wall));
  for (std::vector<double>& row : rows) row.resize(wall.size());
  for (auto& [stage, times] : busy) times.resize(wall.size());
  if (sample.output_hash != output_hash) ++different_outputs;
}

void Series::keep_trace(const RunSample& sample) {
  double typical = warm_up.empty() ? 0 : median(warm_up);
  double away = std::abs(milliseconds(sample.account.wall) - typical);
  if (!wall.empty() && away >= trace_distance_) return;
  trace_distance_ = away;
  trace = trace_of(sample.spans, sample.begin, sample.account.wall);
}

void warm_up(Series& series, const RunOnce& run, const BenchPlan& plan) {
  constexpr std::size_t shown = 10, fewest = 2;
  Budget budget(plan.seconds);
  Settling settling;
  while (!series.steady || series.warm_up.size() < shown) {
    if (series.warm_up.size() >= fewest && budget.share() >= 1) return;
    if (series.warm_up.size() >= plan.most_runs) return;
    RunSample sample = take(run, plan, budget);
    if (series.warm_up.empty()) series.output_hash = sample.output_hash;
    if (sample.output_hash != series.output_hash) ++series.different_outputs;
    series.warm_up.push_back(milliseconds(sample.account.wall));
    settling.add(sample);
    series.moving = settling.moving();
    series.steady = series.moving.empty();
  }
}

Series measure_series(const RunOnce& run, const BenchPlan& plan) {
  Series series;
  warm_up(series, run, part_of(plan, warm_share));
  Budget budget(plan.seconds * (1 - warm_share));
  PrecisionGate gate(plan);
  while (series.wall.size() < plan.most_runs) {
    std::size_t runs = series.wall.size();
    if (runs >= plan.least_runs && budget.share() >= 1) break;
    if (gate.reached(runs, [&] { return median_interval(series.wall); })) break;
    series.add(take(run, plan, budget));
    report(plan, budget.share());
  }
  return series;
}

SideBySide measure_side_by_side(const RunOnce& before, const RunOnce& after,
                                const BenchPlan& plan) {
  SideBySide sides;
  warm_up(sides.before, before, part_of(plan, warm_share / 2));
  warm_up(sides.after, after, part_of(plan, warm_share / 2));
  std::mt19937_64 engine(plan.seed);
  Budget budget(plan.seconds * (1 - warm_share));
  PrecisionGate gate(plan);
  while (sides.before.wall.size() + 2 <= plan.most_runs) {
    std::size_t blocks = sides.before.wall.size() / 2;
    if (2 * blocks >= plan.least_runs && budget.share() >= 1) break;
    if (gate.reached(blocks, [&] { return ratio_of_blocks(sides.before, sides.after); })) break;
    one_block(sides, before, after, plan, budget, engine);
    report(plan, budget.share());
  }
  return sides;
}

}  // namespace fuseline
