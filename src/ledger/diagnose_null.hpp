// Two experiments on our own pipelines: kernels that do nothing, and the gain of fusion split.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/stats.hpp"

namespace fuseline {

// Frames measured in blocks; times in ms, one entry a block.
struct NullRun {
  std::vector<double> real;     // the whole frame
  std::vector<double> null;     // the same with kernels that do nothing
  std::vector<double> kernels;  // the kernels of the real frame
};

struct NullCeiling {
  Estimate frame_ms, null_ms;
  Estimate measured;    // end-to-end speed-up with the null kernels
  Estimate arithmetic;  // frame / (frame - kernels)
  bool agree = false;   // the two intervals overlap
};
NullCeiling ceiling_of(const NullRun& run);

// Launches, and bytes that kernels read and write in buffers, of a run of the kernels.
struct Traffic {
  std::int64_t launches = 0;
  double bytes = 0;
};

struct GainRun {
  Traffic before, after;
  std::vector<double> before_ms, after_ms;            // the kernels with their launches
  std::vector<double> null_before_ms, null_after_ms;  // the same launches, null kernels
  double bytes_per_ms = 0;                            // measured: of memory, read and written
};

// The parts sum to `saved_ms`.
struct GainSplit {
  Estimate saved_ms;
  Estimate launch_cost_ms;  // of one
  double launches_ms = 0, bytes_ms = 0, unexplained_ms = 0;
};
// None where both sides launch equally often: a launch has no measured cost then.
std::optional<GainSplit> split_gain(const GainRun& run);

}  // namespace fuseline
