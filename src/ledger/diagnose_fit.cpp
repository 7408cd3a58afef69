// Least squares with bootstrap intervals, and the rounds that its samples come from.
#include "ledger/diagnose_fit.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "base/fail.hpp"

namespace fuseline {
namespace {

struct Line {
  double fixed = 0, slope = 0;
  double at(double x) const { return fixed + slope * x; }
};

Line through(const std::vector<double>& x, const std::vector<double>& y) {
  auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, square = 0, product = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mean_x += x[i] / n, mean_y += y[i] / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    square += (x[i] - mean_x) * (x[i] - mean_x);
    product += (x[i] - mean_x) * (y[i] - mean_y);
  }
  require(square > 0, "a fit through one size");
  double slope = product / square;
  return {mean_y - slope * mean_x, slope};
}

Estimate interval_of(double value, const std::vector<double>& answers, std::size_t n) {
  constexpr double tail = 0.025;
  std::vector<double> ends = quantiles(answers, std::vector<double>{tail, 1 - tail});
  return {value, ends[0], ends[1], n};
}

SizeFit fit(const std::string& row, const std::vector<double>& x,
            const std::vector<std::vector<double>>& samples) {
  constexpr int resamples = 1000;
  std::vector<double> medians, fixed, slopes;
  std::size_t fewest = samples.front().size();
  for (const auto& sample : samples) {
    medians.push_back(median(sample));
    fewest = std::min(fewest, sample.size());
  }
  Line line = through(x, medians);
  std::mt19937_64 engine(20031);
  for (int i = 0; i < resamples; ++i) {
    std::vector<double> drawn;
    for (const auto& sample : samples) {
      std::vector<double> again;
      for (std::size_t k = 0; k < sample.size(); ++k)
        again.push_back(sample[engine() % sample.size()]);
      drawn.push_back(median(again));
    }
    Line other = through(x, drawn);
    fixed.push_back(other.fixed);
    slopes.push_back(other.slope);
  }
  double off = 0, largest = *std::max_element(medians.begin(), medians.end());
  for (std::size_t i = 0; i < x.size(); ++i)
    off = std::max(off, std::abs(medians[i] - line.at(x[i])));
  return {row, interval_of(line.fixed, fixed, fewest), interval_of(line.slope, slopes, fewest),
          largest > 0 ? off / largest : 0};
}

}  // namespace

std::vector<SizeFit> fit_sizes(const std::vector<SizePoint>& points) {
  std::vector<double> x;
  std::vector<std::string> rows;
  std::vector<std::vector<double>> samples;
  for (const SizePoint& point : points) {
    x.push_back(point.amount);
    samples.push_back(point.series.wall);
    for (const std::string& row : point.series.row_names)
      if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
  }
  std::vector<SizeFit> fits = {fit("", x, samples)};
  for (const std::string& row : rows) {
    samples.clear();
    for (const SizePoint& point : points) samples.push_back(point.series.row(row));
    fits.push_back(fit(row, x, samples));
  }
  return fits;
}

std::vector<Series> measure_in_turn(const std::vector<RunOnce>& runs, const BenchPlan& plan) {
  using Clock = std::chrono::steady_clock;
  std::vector<Series> all(runs.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    order.push_back(i);
    RunSample first = runs[i]();
    all[i].output_hash = first.output_hash;
    all[i].warm_up.push_back(static_cast<double>(first.account.wall) / 1e6);
  }
  std::mt19937_64 engine(plan.seed);
  auto begin = Clock::now();
  for (std::size_t round = 0; round < plan.most_runs; ++round) {
    double share = std::chrono::duration<double>(Clock::now() - begin).count() / plan.seconds;
    if (plan.progress) plan.progress(std::min(share, 1.0));
    if (round >= plan.least_runs && share >= 1) break;
    std::shuffle(order.begin(), order.end(), engine);
    for (std::size_t i : order) {
      if (plan.between_runs) plan.between_runs();
      all[i].add(runs[i]());
    }
  }
  return all;
}

}  // namespace fuseline
