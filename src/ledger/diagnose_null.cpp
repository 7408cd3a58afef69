// Ceilings, measured and by arithmetic, the device's own times, and where a gain comes from.
#include "ledger/diagnose_null.hpp"

#include <algorithm>

namespace fuseline {
namespace {

std::vector<double> differences(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> all;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) all.push_back(a[i] - b[i]);
  return all;
}

Estimate ratio(const std::vector<double>& above, const std::vector<double>& below) {
  constexpr double least_ms = 1e-6, least_share = 1e-3;  // noise may leave nothing below
  std::vector<BlockPair> pairs;
  for (std::size_t i = 0; i < above.size(); ++i) {
    double time = std::max(above[i], least_ms);
    pairs.push_back({time, std::max(below[i], least_share * time)});
  }
  return paired_ratio(pairs);
}

}  // namespace

NullCeiling ceiling_of(const NullRun& run) {
  NullCeiling ceiling;
  ceiling.frame_ms = median_interval(run.real);
  ceiling.null_ms = median_interval(run.null);
  ceiling.measured = ratio(run.real, run.null);
  ceiling.kernels_ms = median_interval(differences(run.real, run.null));
  if (!run.no_kernels.empty()) {
    ceiling.no_kernels_ms = median_interval(run.no_kernels);
    ceiling.without_launches = ratio(run.real, run.no_kernels);
    ceiling.launches_ms = median_interval(differences(run.null, run.no_kernels));
  }
  ceiling.arithmetic = ratio(run.real, differences(run.real, run.kernels));
  ceiling.against_null = !run.with_launches || run.no_kernels.empty();
  const Estimate& truth = ceiling.against_null ? ceiling.measured : ceiling.without_launches;
  ceiling.agree = truth.low <= ceiling.arithmetic.high && ceiling.arithmetic.low <= truth.high;
  return ceiling;
}

double step_us(const DeviceStep& step) { return median(step.alone.empty() ? step.us : step.alone); }

TimedShares shares_of(const TimedRun& run) {
  constexpr double us_per_ms = 1000;
  TimedShares shares;
  shares.plain_ms = median_interval(run.plain);
  shares.timed_ms = median_interval(run.timed);
  shares.ratio = ratio(run.timed, run.plain);
  for (const DeviceStep& step : run.steps)
    (step.kind == DeviceStep::Kind::kernel ? shares.kernels_ms : shares.copies_ms) +=
        step_us(step) / us_per_ms;
  shares.rest_ms = std::max(shares.plain_ms.value - shares.kernels_ms - shares.copies_ms, 0.0);
  return shares;
}

std::optional<GainSplit> split_gain(const GainRun& run) {
  auto launches = static_cast<double>(run.before.launches - run.after.launches);
  if (launches == 0 || run.bytes_per_ms <= 0) return std::nullopt;
  GainSplit split;
  split.saved_ms = median_interval(differences(run.before_ms, run.after_ms));
  std::vector<double> costs = differences(run.null_before_ms, run.null_after_ms);
  for (double& cost : costs) cost /= launches;
  split.launch_cost_ms = median_interval(costs);
  split.launches_ms = launches * split.launch_cost_ms.value;
  split.bytes_ms = (run.before.bytes - run.after.bytes) / run.bytes_per_ms;
  if (!run.before_mhz.empty() && !run.after_mhz.empty()) {
    double before = median(run.before_mhz), after = median(run.after_mhz);
    if (before > 0 && after > 0) split.clocks_ms = median(run.before_ms) * (1 - before / after);
  }
  split.unexplained_ms =
      split.saved_ms.value - split.launches_ms - split.bytes_ms - split.clocks_ms.value_or(0);
  return split;
}

}  // namespace fuseline
