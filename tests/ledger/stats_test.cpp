// Statistics against numpy and SciPy, and the coverage of the intervals.
#include "ledger/stats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <sstream>

#include "fuseline/error.hpp"
#include "ledger/expected.hpp"

namespace fuseline {
namespace {

using Sample = std::vector<double>;

// Measured milliseconds with one outlier; the answers below are numpy 2.4's and SciPy 1.17's.
const Sample times = {1.31, 1.27, 1.42, 1.29, 1.30, 1.33, 9.75, 1.28, 1.26, 1.35, 1.31, 1.30};
const Sample side_a = {2.41, 2.38, 2.45, 2.50, 2.39, 2.44, 2.61, 2.40, 2.37, 2.43, 2.46};
const Sample side_b = {0.98, 0.97, 1.01, 1.00, 0.99, 1.02, 1.08, 0.96, 0.98, 1.00, 0.99};

std::vector<BlockPair> pairs_of(const Sample& a, const Sample& b) {
  std::vector<BlockPair> pairs;
  for (std::size_t i = 0; i < a.size(); ++i) pairs.push_back({a[i], b[i]});
  return pairs;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Stats, QuantilesAreNumpys) {
  Sample probabilities = {0, 0.05, 0.25, 0.5, 0.9, 0.95, 0.99, 1};
  Sample expected = {1.26, 1.2655, 1.2875, 1.305, 1.413, 5.1685, 8.8337, 9.75};
  EXPECT_THAT(quantiles(times, probabilities),
              testing::Pointwise(testing::DoubleNear(1e-12), expected));
  EXPECT_DOUBLE_EQ(median(times), 1.305);
  EXPECT_NEAR(median_absolute_deviation(times), 0.025, 1e-15);
}

TEST(Stats, OneMeasurementIsItsOwnQuantiles) {
  Sample one = {3.5};
  EXPECT_EQ(quantile(one, 0), 3.5);
  EXPECT_EQ(quantile(one, 0.95), 3.5);
  EXPECT_EQ(median_absolute_deviation(one), 0);
  Estimate estimate = median_interval(one);
  EXPECT_EQ(estimate.low, 3.5);
  EXPECT_EQ(estimate.high, 3.5);
  EXPECT_EQ(estimate.n, 1u);
}

// SciPy with 400000 resamples answers [1.285, 1.34]; 2000 resamples reach its quantiles at the tail
// probability within 0.012.
TEST(Stats, MedianIntervalIsSciPys) {
  Estimate estimate = median_interval(times);
  EXPECT_DOUBLE_EQ(estimate.value, 1.305);
  EXPECT_EQ(estimate.n, times.size());
  EXPECT_GE(estimate.low, 1.28);
  EXPECT_LE(estimate.low, 1.29);
  EXPECT_GE(estimate.high, 1.33);
  EXPECT_LE(estimate.high, 1.35);
}

TEST(Stats, PairedRatioIsSciPys) {
  Estimate ratio = paired_ratio(pairs_of(side_a, side_b));
  EXPECT_NEAR(ratio.value, 2.43, 1e-12);
  EXPECT_NEAR(ratio.low, 2.41666667, 1e-8);
  EXPECT_NEAR(ratio.high, 2.48484848, 1e-8);
  EXPECT_EQ(ratio.n, side_a.size());
}

TEST(Stats, SummaryOfAHandfulHasNoP99) {
  Summary summary = describe(times);
  EXPECT_DOUBLE_EQ(summary.median.value, 1.305);
  EXPECT_EQ(summary.min, 1.26);
  EXPECT_EQ(summary.max, 9.75);
  EXPECT_NEAR(summary.total, 24.17, 1e-12);
  EXPECT_NEAR(summary.mean, 24.17 / 12, 1e-12);
  EXPECT_NEAR(summary.p90, 1.413, 1e-12);
  EXPECT_NEAR(summary.p95, 5.1685, 1e-12);
  EXPECT_FALSE(summary.p99);
}

TEST(Stats, P99NeedsAThousandSamples) {
  Sample sample;
  for (int i = 0; i < 999; ++i) sample.push_back(i);
  EXPECT_FALSE(describe(sample).p99);
  sample.push_back(999);
  EXPECT_NEAR(describe(sample).p99.value(), 989.01, 1e-9);
}

// Lognormal samples around medians of 2 and 1: the interval of the ratio holds 2 in 95 % of the
// trials, within three standard errors of 200 trials.
TEST(Stats, UnpairedRatioCoversTheTruth) {
  std::mt19937_64 engine(29);
  std::lognormal_distribution<double> above(std::log(2), 0.2), below(0, 0.1);
  int covered = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Sample a(25), b(40);
    for (double& x : a) x = above(engine);
    for (double& x : b) x = below(engine);
    Estimate ratio = unpaired_ratio(a, b);
    EXPECT_EQ(ratio.n, 25u);
    covered += ratio.low <= 2 && 2 <= ratio.high;
  }
  EXPECT_GE(covered, 181);
  EXPECT_LE(covered, 199);
  EXPECT_NEAR(unpaired_ratio(side_a, side_b).value, 2.43 / 0.99, 1e-12);
}

TEST(Stats, SwappedSidesGiveTheReciprocal) {
  Estimate ratio = paired_ratio(pairs_of(side_a, side_b));
  Estimate swapped = paired_ratio(pairs_of(side_b, side_a));
  EXPECT_NEAR(swapped.value, 1 / ratio.value, 1e-12);
  EXPECT_NEAR(swapped.low, 1 / ratio.high, 0.01);
  EXPECT_NEAR(swapped.high, 1 / ratio.low, 0.01);
}

TEST(Stats, PairingCancelsADriftThatBothSidesSee) {
  std::mt19937_64 engine(5);
  std::normal_distribution<double> noise(0, 0.002);
  std::vector<BlockPair> pairs;
  for (int i = 0; i < 60; ++i) {
    double machine = 1 + 0.5 * std::sin(i * 0.3);
    pairs.push_back({2 * machine * std::exp(noise(engine)), machine * std::exp(noise(engine))});
  }
  Estimate ratio = paired_ratio(pairs);
  EXPECT_NEAR(ratio.value, 2, 0.005);
  EXPECT_LT(ratio.high - ratio.low, 0.01);
}

TEST(Stats, EqualSeedsGiveEqualIntervals) {
  Bootstrap other;
  other.seed = 4;
  Sample sample;
  std::mt19937_64 engine(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 200; ++i) sample.push_back(normal(engine));
  Estimate a = median_interval(sample), b = median_interval(sample);
  Estimate c = median_interval(sample, other);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  EXPECT_TRUE(a.low != c.low || a.high != c.high);
}

// The share of 95 % intervals that hold the true median: 400 draws have a standard error of 1.1 %.
TEST(Stats, IntervalsCoverTheTrueMedian) {
  std::mt19937_64 engine(17);
  std::lognormal_distribution<double> distribution(0, 0.5);
  int covered = 0;
  for (int trial = 0; trial < 400; ++trial) {
    Sample sample(41);
    for (double& x : sample) x = distribution(engine);
    Estimate estimate = median_interval(sample);
    covered += estimate.low <= 1 && 1 <= estimate.high;
  }
  EXPECT_GE(covered, 364);
  EXPECT_LE(covered, 396);
}

TEST(Stats, BootstrapOfAThousandMeasurementsIsFast) {
  Sample sample;
  for (int i = 0; i < 1000; ++i) sample.push_back(std::sin(i));
  auto begin = std::chrono::steady_clock::now();
  Estimate estimate = median_interval(sample);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_LT(estimate.low, estimate.high);
  EXPECT_LT(seconds, 1);
}

TEST(Stats, RefusesEmptyAndNaN) {
  Sample empty, nan = {1, std::numeric_limits<double>::quiet_NaN()};
  for (const Sample& sample : {empty, nan}) {
    EXPECT_THROW(median(sample), Error);
    EXPECT_THROW(quantiles(sample, times), Error);
    EXPECT_THROW(median_absolute_deviation(sample), Error);
    EXPECT_THROW(median_interval(sample), Error);
  }
  EXPECT_THAT(error_of([&] { median(nan); }), testing::HasSubstr("measurement 1 of 2 is NaN"));
  EXPECT_THAT(error_of([&] { paired_ratio({}); }), testing::HasSubstr("empty"));
}

TEST(Stats, RefusesWhatIsNoProbabilityOrTime) {
  for (double p : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(quantile(times, p), Error);
  for (double t : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(paired_ratio(pairs_of({1, t}, {1, 1})), Error);
    EXPECT_THROW(paired_ratio(pairs_of({1, 1}, {1, t})), Error);
  }
  EXPECT_THROW(median_interval(times, {.resamples = 0}), Error);
  EXPECT_THROW(median_interval(times, {.level = 1}), Error);
}

// Reads one row that stats_expected.py printed and checks its name.
Sample read_row(std::istream& in, const std::string& name) {
  std::string line, word;
  std::getline(in, line);
  std::istringstream words(line);
  words >> word;
  EXPECT_EQ(word, name);
  Sample row;
  while (words >> word) row.push_back(std::strtod(word.c_str(), nullptr));
  return row;
}

void compare_case(std::istream& in) {
  Sample sample = read_row(in, "sample");
  Sample points = read_row(in, "quantiles");
  for (std::size_t i = 0; i + 1 < points.size(); i += 2) {
    double ours = quantile(sample, points[i]);
    EXPECT_NEAR(ours, points[i + 1], 1e-12 * (1 + std::abs(ours))) << "at " << points[i];
  }
  Sample spread = read_row(in, "spread");
  ASSERT_EQ(spread.size(), 2u);
  EXPECT_NEAR(median(sample), spread[0], 1e-12 * (1 + std::abs(spread[0])));
  EXPECT_NEAR(median_absolute_deviation(sample), spread[1], 1e-12 * (1 + spread[1]));
  Sample interval = read_row(in, "interval");
  ASSERT_EQ(interval.size(), 4u);
  Estimate ours = median_interval(sample);
  double slack = 1e-12 * (1 + std::abs(ours.value));
  EXPECT_GE(ours.low, interval[0] - slack);
  EXPECT_LE(ours.low, interval[1] + slack);
  EXPECT_GE(ours.high, interval[2] - slack);
  EXPECT_LE(ours.high, interval[3] + slack);
}

TEST(Stats, SeededSamplesAgreeWithNumpyAndSciPy) {
  test::compare_with("stats_expected.py", 24, compare_case);
}

}  // namespace
}  // namespace fuseline
