// Our side of the side-by-side benchmarks, and the interval of their ratios.
#include <algorithm>
#include <cstdio>
#include <iostream>

#include "base/fail.hpp"
#include "base/json.hpp"
#include "bench_case.hpp"
#include "ledger/stats.hpp"

namespace fuseline::bench {
namespace {

Json estimate_json(const Estimate& estimate) {
  return {
      {"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}, {"n", estimate.n}};
}

// Lines "NUMERATOR DENOMINATOR" on stdin, one a block pair.
void print_ratio() {
  std::vector<BlockPair> blocks;
  for (BlockPair block; std::cin >> block.numerator >> block.denominator;) blocks.push_back(block);
  if (!std::cin.eof()) fail("ratio: line {} does not hold two numbers", blocks.size() + 1);
  print_json(estimate_json(paired_ratio(blocks)));
}

// One number a line on stdin.
void print_median() {
  std::vector<double> sample;
  for (double value; std::cin >> value;) sample.push_back(value);
  if (!std::cin.eof()) fail("median: line {} is not a number", sample.size() + 1);
  print_json(estimate_json(median_interval(sample)));
}

void run_command(const std::string& command, const Arguments& arguments) {
  if (command == "mask") return serve(*make_mask_case(arguments));
  if (command == "chain") return serve(*make_chain_case(arguments));
  if (command == "jpeg") return serve(*make_jpeg_case(arguments));
  if (command == "compile") return print_compile_times(arguments);
  if (command == "ratio") return print_ratio();
  if (command == "median") return print_median();
  fail("'{}' is not one of mask, chain, jpeg, compile, ratio, median", command);
}

}  // namespace
}  // namespace fuseline::bench

int main(int argc, char** argv) {
  std::string command = argc > 1 ? argv[1] : "";
  try {
    fuseline::bench::run_command(command, {argv + std::min(argc, 2), argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuseline_bench: %s\n", error.what());
    return 1;
  }
}
