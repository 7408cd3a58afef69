// What a graph costs, as far as it can be said without running it.
#pragma once

#include <cstdint>

#include "fuseline/graph.hpp"

namespace fuseline::cli {

struct ModelCost {
  int contractions = 0;
  Dim operations;               // multiplications and additions of the contractions
  std::int64_t parameters = 0;  // elements of float constants with more than one
  std::int64_t bytes = 0;       // of all constants
};

ModelCost cost_of(const Graph& graph);

// "4.37 GFLOP", "812 FLOP"
std::string flop_text(double operations);
// "12.3 MB"
std::string bytes_text(std::int64_t bytes);

}  // namespace fuseline::cli
