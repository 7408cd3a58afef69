// Statistics of measured times.
#include "ledger/stats.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/fail.hpp"

namespace fuseline {
namespace {

std::vector<double> sorted_copy(std::span<const double> sample) {
  if (sample.empty()) fail("statistics: the sample is empty; at least one measurement is needed");
  for (std::size_t i = 0; i < sample.size(); ++i)
    if (std::isnan(sample[i])) fail("statistics: measurement {} of {} is NaN", i, sample.size());
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double quantile_of_sorted(std::span<const double> sorted, double probability) {
  if (!(probability >= 0 && probability <= 1))
    fail("quantile: the probability is {}, it must lie in 0 to 1", probability);
  double position = probability * static_cast<double>(sorted.size() - 1);
  std::size_t below = static_cast<std::size_t>(position);
  double part = position - static_cast<double>(below);
  if (part == 0) return sorted[below];  // also keeps infinity - infinity out
  double a = sorted[below], b = sorted[below + 1];
  if (a == b) return a;
  // From the nearer end, so that the interpolation stays monotone in floating point.
  return part < 0.5 ? a + (b - a) * part : b - (b - a) * (1 - part);
}

// Draws of 0 .. n - 1. Only the engine comes from the standard library, because the standard
// fixes its numbers but not those of its distributions.
class IndexSource {
 public:
  IndexSource(std::uint64_t seed, std::size_t n) : engine_(seed), n_(n) {}
  std::size_t next() {
    if (!half_ready_) bits_ = engine_();
    std::uint64_t half = half_ready_ ? bits_ >> 32 : bits_ & 0xffffffffu;
    half_ready_ = !half_ready_;
    return static_cast<std::size_t>(half * n_ >> 32);
  }

 private:
  std::mt19937_64 engine_;
  std::uint64_t n_;
  std::uint64_t bits_ = 0;
  bool half_ready_ = false;
};

// The rank-th smallest element (from 0) of a resample that is given as counts of the sorted sample.
std::size_t index_of_rank(std::span<const std::uint32_t> counts, std::size_t rank) {
  std::size_t seen = 0, i = 0;
  while ((seen += counts[i]) <= rank) ++i;
  return i;
}

// Medians of resamples, sorted. A resample is kept as counts over the sorted sample, so that its
// median needs one walk and no sort.
std::vector<double> resampled_medians(std::span<const double> sorted, const Bootstrap& bootstrap) {
  std::size_t n = sorted.size();
  IndexSource source(bootstrap.seed, n);
  std::vector<std::uint32_t> counts(n);
  std::vector<double> medians(static_cast<std::size_t>(bootstrap.resamples));
  for (double& median : medians) {
    std::fill(counts.begin(), counts.end(), 0);
    for (std::size_t i = 0; i < n; ++i) ++counts[source.next()];
    double low = sorted[index_of_rank(counts, (n - 1) / 2)];
    double high = sorted[index_of_rank(counts, n / 2)];
    median = low == high ? low : low + (high - low) / 2;
  }
  std::sort(medians.begin(), medians.end());
  return medians;
}

}  // namespace

double quantile(std::span<const double> sample, double probability) {
  return quantile_of_sorted(sorted_copy(sample), probability);
}

std::vector<double> quantiles(std::span<const double> sample,
                              std::span<const double> probabilities) {
  std::vector<double> sorted = sorted_copy(sample);
  std::vector<double> answers;
  for (double probability : probabilities)
    answers.push_back(quantile_of_sorted(sorted, probability));
  return answers;
}

double median(std::span<const double> sample) { return quantile(sample, 0.5); }

double median_absolute_deviation(std::span<const double> sample) {
  double center = median(sample);
  std::vector<double> deviations;
  for (double x : sample) deviations.push_back(std::abs(x - center));
  return median(deviations);
}

Estimate median_interval(std::span<const double> sample, const Bootstrap& bootstrap) {
  if (bootstrap.resamples < 1)
    fail("bootstrap: {} resamples, at least 1 is needed", bootstrap.resamples);
  if (!(bootstrap.level > 0 && bootstrap.level < 1))
    fail("bootstrap: the level is {}, it must lie between 0 and 1", bootstrap.level);
  std::vector<double> sorted = sorted_copy(sample);
  std::vector<double> medians = resampled_medians(sorted, bootstrap);
  double tail = (1 - bootstrap.level) / 2;
  return {quantile_of_sorted(sorted, 0.5), quantile_of_sorted(medians, tail),
          quantile_of_sorted(medians, 1 - tail), sorted.size()};
}

Estimate paired_ratio(std::span<const BlockPair> blocks, const Bootstrap& bootstrap) {
  std::vector<double> logs;
  for (const BlockPair& block : blocks) {
    for (double time : {block.numerator, block.denominator})
      if (!(time > 0 && std::isfinite(time)))
        fail("paired ratio: block {} holds the time {}; times must be positive and finite",
             logs.size(), time);
    logs.push_back(std::log(block.numerator) - std::log(block.denominator));
  }
  Estimate log_ratio = median_interval(logs, bootstrap);
  return {std::exp(log_ratio.value), std::exp(log_ratio.low), std::exp(log_ratio.high),
          log_ratio.n};
}

}  // namespace fuseline
