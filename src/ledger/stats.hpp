// Statistics of measured times: quantiles, bootstrap intervals, paired A/B ratios.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fuseline {

// Every function throws Error for an empty sample and for one with NaN in it.

// Quantile by linear interpolation between order statistics: position p * (n - 1) in the sorted
// sample. This is definition 7 of Hyndman and Fan, "Sample quantiles in statistical packages",
// The American Statistician 50 (1996), and the default of numpy.quantile.
double quantile(std::span<const double> sample, double probability);
// Several quantiles for one sort; the answers are in the order of `probabilities`.
std::vector<double> quantiles(std::span<const double> sample,
                              std::span<const double> probabilities);
double median(std::span<const double> sample);

// The median of |x - median|, not scaled to a normal deviation; scipy.stats.median_abs_deviation
// with its default scale.
double median_absolute_deviation(std::span<const double> sample);

struct Bootstrap {
  int resamples = 2000;
  double level = 0.95;
  std::uint64_t seed = 20031;  // equal samples give equal intervals
};

// A point estimate, its interval, and the number of observations it rests on.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
  std::size_t n = 0;
};

// The median with its percentile-bootstrap interval: Efron and Tibshirani, "An Introduction to
// the Bootstrap" (1993), section 13.3.
Estimate median_interval(std::span<const double> sample, const Bootstrap& bootstrap = {});

// What a table shows of one sample.
struct Summary {
  Estimate median;
  double min = 0, mean = 0, max = 0, total = 0;
  double p90 = 0, p95 = 0;
  std::optional<double> p99;  // only where at least 1000 samples can tell it
};

Summary describe(std::span<const double> sample, const Bootstrap& bootstrap = {});

// One block of an interleaved A/B measurement: the time of each side, measured next to each other.
struct BlockPair {
  double numerator = 0;
  double denominator = 0;
};

// numerator / denominator: exp of the median of log(numerator / denominator) over the pairs, with
// the bootstrap interval over pairs. Pairing cancels whatever slows both sides of a block alike,
// and the logarithm makes A/B and B/A reciprocal. Throws Error for times that are not positive
// and finite.
Estimate paired_ratio(std::span<const BlockPair> blocks, const Bootstrap& bootstrap = {});

// median(numerator) / median(denominator) of samples that were not paired, each resampled on its
// own. Throws Error as paired_ratio does.
Estimate unpaired_ratio(std::span<const double> numerator, std::span<const double> denominator,
                        const Bootstrap& bootstrap = {});

}  // namespace fuseline
