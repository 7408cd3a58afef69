// Open-loop load: latency from the intended start, so that a stall is not hidden by waiting for it.
#include <cmath>
#include <random>
#include <thread>

#include "base/fail.hpp"
#include "ledger/bench.hpp"
#include "ledger/stage_file.hpp"

namespace fuseline {
namespace {

// From 53 random bits, since the standard does not fix the numbers of its distributions.
double uniform(std::mt19937_64& engine) {
  return (static_cast<double>(engine() >> 11) + 0.5) / 9007199254740992.0;
}

// Returns soon behind the instant; the last stretch is not slept, because a sleep ends late.
void wait_until(Nanoseconds instant) {
  constexpr Nanoseconds spun = 200'000;
  Nanoseconds left = instant - monotonic_now();
  if (left > spun) std::this_thread::sleep_for(std::chrono::nanoseconds(left - spun));
  while (monotonic_now() < instant) {
  }
}

}  // namespace

std::vector<double> arrival_times(Arrivals arrivals, double per_second, double seconds,
                                  std::uint64_t seed) {
  require(per_second > 0 && seconds > 0, "a load without arrivals");
  std::mt19937_64 engine(seed);
  std::vector<double> times = {0};
  for (;;) {
    double gap = arrivals == Arrivals::fixed ? 1 : -std::log(uniform(engine));
    double next = arrivals == Arrivals::fixed ? static_cast<double>(times.size()) / per_second
                                              : times.back() + gap / per_second;
    if (next >= seconds) return times;
    times.push_back(next);
  }
}

Series measure_load(const RunOnce& run, const std::vector<double>& starts, const BenchPlan& plan) {
  constexpr Nanoseconds lead = 1'000'000;
  constexpr double warm_share = 0.2;
  Series series;
  BenchPlan warm = plan;
  warm.seconds *= warm_share;
  warm_up(series, run, warm);
  Nanoseconds begin = monotonic_now() + lead;
  for (double start : starts) {
    if (plan.between_runs) plan.between_runs();
    Nanoseconds intended = begin + static_cast<Nanoseconds>(start * 1e9);
    wait_until(intended);
    Nanoseconds started = monotonic_now();
    RunSample sample = run();
    series.add(sample);
    Nanoseconds late = started - intended;
    series.latency.push_back(static_cast<double>(late + sample.account.wall) / 1e6);
    if (plan.progress)
      plan.progress(static_cast<double>(series.wall.size()) / static_cast<double>(starts.size()));
  }
  return series;
}

}  // namespace fuseline
