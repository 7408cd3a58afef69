// Ratios and medians with their intervals.
#include "statistics.hpp"

#include <iostream>
#include <vector>

#include "base/fail.hpp"
#include "base/json.hpp"
#include "ledger/stats.hpp"

namespace fuseline::bench {
namespace {

Json estimate_json(const Estimate& estimate) {
  return {
      {"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}, {"n", estimate.n}};
}

void print_ratio() {
  std::vector<BlockPair> blocks;
  for (BlockPair block; std::cin >> block.numerator >> block.denominator;) blocks.push_back(block);
  if (!std::cin.eof()) fail("ratio: line {} does not hold two numbers", blocks.size() + 1);
  print_json(estimate_json(paired_ratio(blocks)));
}

void print_median() {
  std::vector<double> sample;
  for (double value; std::cin >> value;) sample.push_back(value);
  if (!std::cin.eof()) fail("median: line {} is not a number", sample.size() + 1);
  print_json(estimate_json(median_interval(sample)));
}

}  // namespace

bool print_statistic(const std::string& name) {
  if (name == "ratio")
    print_ratio();
  else if (name == "median")
    print_median();
  else
    return false;
  return true;
}

}  // namespace fuseline::bench
