// Call: a contraction that a library of the device computes, with what it does in passing.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "fuse/region.hpp"

namespace fuseline {

// What a call makes of its sums before it stores them: sum * scale + bias, then the activation.
// One number a channel (conv) or a column (matmul); empty: none. The scale is multiplied into the
// weights when these are prepared.
struct Epilogue {
  std::vector<double> scale, bias;
  bool leaky_relu = false;
  double slope = 0;  // of negative numbers; 0 is relu
};

struct Call {
  ValueId operation = 0;          // the contraction
  ValueId output = 0;             // what is stored: its result, or what the epilogue made of it
  std::vector<ValueId> operands;  // stored values or leaves
  Epilogue epilogue;
  std::vector<ValueId> operations;   // the graph values that are computed inside
  std::vector<std::string> reasons;  // why its borders are where they are
};

// One step of a schedule.
using Work = std::variant<Region, Call>;

struct PartitionOptions {
  bool fuse = true;          // false: one kernel an operation, the unfused schedule
  bool parity = false;       // round f16 and bf16 at every value, not only where they are stored
  int max_operations = 512;  // an expression above this is stored and read back
  std::vector<DType> call_types = {};  // contractions of these types are calls
  bool cut_concats = false;  // the parts of a stored concatenation are written where they belong,
                             // by kernels of their own where their sizes differ
};

// Where the space is cut: everything between library calls, as few kernels as the rules allow.
// In an order in which the work can run. Every graph output is written by one item.
std::vector<Work> partition(const Graph& graph, const PartitionOptions& options);

}  // namespace fuseline
