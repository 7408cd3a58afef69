// Measuring: one side as a series, or two sides in interleaved, randomised blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ledger/timeline.hpp"
#include "ledger/trace.hpp"
#include "ledger/verdict.hpp"

namespace fuseline {

// One run of one side.
struct RunSample {
  ClosedAccount account;
  std::optional<double> user_seconds, system_seconds;
  std::optional<double> peak_bytes;
  std::map<std::string, double> seen;  // memory and clocks, by the names of run_watch.hpp
  Nanoseconds begin = 0;
  std::vector<Span> spans;
  std::uint64_t output_hash = 0;
};

// Runs a side once. It throws Error where the run failed, so that no failed run is timed.
using RunOnce = std::function<RunSample()>;

struct BenchPlan {
  double seconds = 10;          // of measuring, all sides together; warming up has as much at most
  std::size_t least_runs = 10;  // of a side, whatever the time
  std::size_t most_runs = 100000;
  // The relative half-width of the interval at which more runs would not change what is said; 0:
  // use all the time. It does not look at the effect, so stopping at it does not favor a verdict.
  double precision = 0;
  std::uint64_t seed = 1;
  std::function<void()> between_runs;  // may throw
  std::function<void(double share_done)> progress;
};

// All runs of one side, as columns; times in milliseconds.
struct Series {
  std::vector<double> warm_up;  // wall times of the first runs; the very first is the cold one
  bool steady = false;          // three windows of the warm-up agreed, in times and clocks
  std::string moving;           // what had not come to rest, where it was not steady
  std::vector<std::string> row_names;
  std::vector<std::vector<double>> rows;  // [row][run]; rows of a run sum to its wall time
  std::vector<double> wall;
  std::map<std::string, std::vector<double>> busy;  // by stage
  // user, system (s), peak (bytes), and what was seen of a run.
  std::map<std::string, std::vector<double>> resources;
  RunTrace trace;               // of the measured run that is closest to the median of the warm-up
  std::vector<double> latency;  // from the intended start; only under a load
  std::size_t different_outputs = 0;  // runs whose output was not that of the first
  std::uint64_t output_hash = 0;

  double cold() const { return warm_up.front(); }
  // The times of one row; zeros where it never occurred.
  std::vector<double> row(const std::string& name) const;
  void add(const RunSample& sample);

 private:
  void keep_trace(const RunSample& sample);
  double trace_distance_ = 0;
};

inline constexpr std::size_t fewest_to_tell_steady = 15;

// Runs until three windows of five agree within their noise, in times and in the clocks that were
// seen, and at least ten times, so that the first ten can be shown; not steady where the time of
// the plan is over before that.
void warm_up(Series& series, const RunOnce& run, const BenchPlan& plan);

Series measure_series(const RunOnce& run, const BenchPlan& plan);

// A block is two runs of each side in random order: runs 2k and 2k + 1 of both series are block k.
// Two runs of one side in one block are the A/A measurement, so no run is spent on noise alone.
struct SideBySide {
  Series before, after;
};
SideBySide measure_side_by_side(const RunOnce& before, const RunOnce& after, const BenchPlan& plan);

// When the runs of an open loop are to start, in seconds from its begin.
enum class Arrivals { fixed, poisson };
std::vector<double> arrival_times(Arrivals arrivals, double per_second, double seconds,
                                  std::uint64_t seed);
// Starts runs at those times, one at a time; where one is late, the next starts at once and its
// latency counts from when it should have started.
Series measure_load(const RunOnce& run, const std::vector<double>& starts, const BenchPlan& plan);

}  // namespace fuseline
