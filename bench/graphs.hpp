// The graphs that the benchmarks run.
#pragma once

#include "fuseline/graph.hpp"

namespace fuseline::bench {

// frame u8 [H, W, 3] -> mask u8 [H, W] of 0 and 255, area i64.
Graph mask_graph(std::int64_t limit);

struct ChainNumbers {
  double a, b, c;
};
// x f32 [H, W] -> y = log(1 + exp(tanh((x - a) / b)) * c).
Graph chain_graph(const ChainNumbers& numbers);

}  // namespace fuseline::bench
