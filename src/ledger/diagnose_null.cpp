// Ceilings, measured and by arithmetic, and where a gain comes from.
#include "ledger/diagnose_null.hpp"

#include <algorithm>

namespace fuseline {
namespace {

std::vector<double> differences(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> all;
  for (std::size_t i = 0; i < a.size(); ++i) all.push_back(a[i] - b[i]);
  return all;
}

Estimate ratio(const std::vector<double>& above, const std::vector<double>& below) {
  constexpr double least_ms = 1e-6;
  std::vector<BlockPair> pairs;
  for (std::size_t i = 0; i < above.size(); ++i)
    pairs.push_back({above[i], std::max(below[i], least_ms)});
  return paired_ratio(pairs);
}

}  // namespace

NullCeiling ceiling_of(const NullRun& run) {
  NullCeiling ceiling;
  ceiling.frame_ms = median_interval(run.real);
  ceiling.null_ms = median_interval(run.null);
  ceiling.measured = ratio(run.real, run.null);
  ceiling.arithmetic = ratio(run.real, differences(run.real, run.kernels));
  ceiling.agree = ceiling.measured.low <= ceiling.arithmetic.high &&
                  ceiling.arithmetic.low <= ceiling.measured.high;
  return ceiling;
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
  split.unexplained_ms = split.saved_ms.value - split.launches_ms - split.bytes_ms;
  return split;
}

}  // namespace fuseline
