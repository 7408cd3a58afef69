// The cost of a command as a fixed part and a part that grows with its input.
#pragma once

#include <string>
#include <vector>

#include "ledger/bench.hpp"

namespace fuseline {

struct SizePoint {
  std::string label;  // "800 x 600"
  double amount = 0;  // of work: megapixels, or millions of elements
  Series series;
};

struct SizeFit {
  std::string row;  // empty: end to end
  Estimate fixed_ms, per_unit_ms;
  double off_line = 0;  // how far the medians lie off the line at most, as a share of the largest
};

// Least squares through the medians of each size; intervals by resampling the runs of each size.
// End to end first, then every row of the account. Needs two sizes that differ, with runs.
std::vector<SizeFit> fit_sizes(const std::vector<SizePoint>& points);

// Runs of several commands in turn, each round in random order: the sweep's measurement.
std::vector<Series> measure_in_turn(const std::vector<RunOnce>& runs, const BenchPlan& plan);

}  // namespace fuseline
