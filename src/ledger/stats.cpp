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

// Medians of resamples, in the order of their draws. A resample is kept as counts over the sorted
// sample, so that its median needs one walk and no sort.
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
  return medians;
}

void check(const Bootstrap& bootstrap) {
  if (bootstrap.resamples < 1)
    fail("bootstrap: {} resamples, at least 1 is needed", bootstrap.resamples);
  if (!(bootstrap.level > 0 && bootstrap.level < 1))
    fail("bootstrap: the level is {}, it must lie between 0 and 1", bootstrap.level);
}

// The percentile interval of what the resamples answered.
Estimate percentile_estimate(double value, std::vector<double> answers, std::size_t n,
                             const Bootstrap& bootstrap) {
  std::sort(answers.begin(), answers.end());
  double tail = (1 - bootstrap.level) / 2;
  return {value, quantile_of_sorted(answers, tail), quantile_of_sorted(answers, 1 - tail), n};
}

double log_of_time(double time, std::size_t position) {
  if (!(time > 0 && std::isfinite(time)))
    fail("ratio: block {} holds the time {}; times must be positive and finite", position, time);
  return std::log(time);
}

std::vector<double> logs_of(std::span<const double> times) {
  std::vector<double> logs;
  for (double time : times) logs.push_back(log_of_time(time, logs.size()));
  return logs;
}

Estimate exponential(const Estimate& log_ratio) {
  return {std::exp(log_ratio.value), std::exp(log_ratio.low), std::exp(log_ratio.high),
          log_ratio.n};
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
  check(bootstrap);
  std::vector<double> sorted = sorted_copy(sample);
  return percentile_estimate(quantile_of_sorted(sorted, 0.5), resampled_medians(sorted, bootstrap),
                             sorted.size(), bootstrap);
}

Summary describe(std::span<const double> sample, const Bootstrap& bootstrap) {
  constexpr std::size_t enough_for_p99 = 1000;
  Summary summary;
  summary.median = median_interval(sample, bootstrap);
  std::vector<double> sorted = sorted_copy(sample);
  summary.min = sorted.front();
  summary.max = sorted.back();
  for (double x : sorted) summary.total += x;
  summary.mean = summary.total / static_cast<double>(sorted.size());
  summary.p90 = quantile_of_sorted(sorted, 0.9);
  summary.p95 = quantile_of_sorted(sorted, 0.95);
  if (sorted.size() >= enough_for_p99) summary.p99 = quantile_of_sorted(sorted, 0.99);
  return summary;
}

Estimate paired_ratio(std::span<const BlockPair> blocks, const Bootstrap& bootstrap) {
  std::vector<double> logs;
  for (const BlockPair& block : blocks)
    logs.push_back(log_of_time(block.numerator, logs.size()) -
                   log_of_time(block.denominator, logs.size()));
  return exponential(median_interval(logs, bootstrap));
}

Estimate unpaired_ratio(std::span<const double> numerator, std::span<const double> denominator,
                        const Bootstrap& bootstrap) {
  check(bootstrap);
  std::vector<double> above = sorted_copy(logs_of(numerator));
  std::vector<double> below = sorted_copy(logs_of(denominator));
  Bootstrap other = bootstrap;
  ++other.seed;  // the two sides are drawn independently
  std::vector<double> differences = resampled_medians(above, bootstrap);
  std::vector<double> medians = resampled_medians(below, other);
  for (std::size_t i = 0; i < differences.size(); ++i) differences[i] -= medians[i];
  double value = quantile_of_sorted(above, 0.5) - quantile_of_sorted(below, 0.5);
  return exponential(percentile_estimate(value, std::move(differences),
                                         std::min(above.size(), below.size()), bootstrap));
}

}  // namespace fuseline
