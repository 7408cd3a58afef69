// Experiments on our own pipelines: kernels that do nothing, no kernels at all, the device's own
// times, and the gain of fusion split.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/stats.hpp"

namespace fuseline {

// Frames measured in blocks; times in ms, one entry a block.
struct NullRun {
  std::string frame = "frame";     // what one is
  std::vector<double> real;        // the whole frame
  std::vector<double> null;        // the same with kernels that do nothing
  std::vector<double> no_kernels;  // the same without kernels and their launches; copies stay
  std::vector<double> kernels;     // the kernels of the real frame
  bool with_launches = true;       // whether `kernels` holds launching them and waiting for them
};

struct NullCeiling {
  Estimate frame_ms, null_ms, no_kernels_ms;
  Estimate kernels_ms;        // real - null
  Estimate launches_ms;       // null - no kernels: launches, and waiting for them
  Estimate measured;          // end-to-end speed-up with the null kernels
  Estimate without_launches;  // and with no kernels at all
  Estimate arithmetic;        // frame / (frame - kernels)
  bool against_null = false;  // arithmetic is held against `measured`, else `without_launches`
  bool agree = false;         // their intervals overlap
};
NullCeiling ceiling_of(const NullRun& run);

// One step of a run as the device timed it, in microseconds, one entry a block.
struct DeviceStep {
  enum class Kind : std::uint8_t { upload, kernel, copy, download };
  Kind kind = Kind::kernel;
  std::string name;
  double bytes = 0;           // of copies
  std::vector<double> us;     // between the points of time around it
  std::vector<double> alone;  // of kernels: repeated for at least a millisecond, once
};

// A recording beside a second one that holds points of time; in ms, one entry a block.
struct TimedRun {
  std::vector<double> plain, timed;
  std::vector<DeviceStep> steps;
};

// Where the time of a recorded run goes.
struct TimedShares {
  Estimate plain_ms, timed_ms, ratio;  // ratio: timed / plain
  double kernels_ms = 0, copies_ms = 0;
  double rest_ms = 0;  // of the plain run: launches, waiting, the host
};
TimedShares shares_of(const TimedRun& run);
// The time of one step: alone where that was measured.
double step_us(const DeviceStep& step);

// Launches, and bytes that kernels read and write in buffers, of a run of the kernels.
struct Traffic {
  std::int64_t launches = 0;
  double bytes = 0;
};

struct GainRun {
  Traffic before, after;
  std::vector<double> before_ms, after_ms;            // the kernels with their launches
  std::vector<double> null_before_ms, null_after_ms;  // the same launches, null kernels
  std::vector<double> before_mhz, after_mhz;          // the device's clock; empty: not measured
  double bytes_per_ms = 0;                            // measured: of memory, read and written
};

// The parts sum to `saved_ms`.
struct GainSplit {
  Estimate saved_ms;
  Estimate launch_cost_ms;  // of one
  double launches_ms = 0, bytes_ms = 0, unexplained_ms = 0;
  std::optional<double> clocks_ms;  // what the slower side would gain at the other's clock
};
// None where both sides launch equally often: a launch has no measured cost then.
std::optional<GainSplit> split_gain(const GainRun& run);

}  // namespace fuseline
