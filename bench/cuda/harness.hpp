// Measuring rows of work side by side on a CUDA device.
//
// Every round measures each row once, in random order. One sample lasts at least `sample_ms` and is
// divided by the work in it, so neither the start of a replay nor the resolution of a clock shows.
// Rows compare by the pairs of samples of the same rounds (ledger/stats).
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "cuda/session.hpp"
#include "ledger/stats.hpp"

namespace fuseline::bench {

// What a kernel is made of; printed, so that a slow row explains itself.
struct KernelFacts {
  std::optional<int> registers, spill_bytes, threads, groups;  // groups: work items a thread
  std::optional<std::int64_t> blocks;
  int kernels = 1;  // a unit of work
};

struct Row {
  std::string name;
  // Rows of a family are variants of one thing: the fastest stand for it.
  std::string family;
  double bytes = 0;  // read and written by one unit of work; 0 where bytes are not the point
  int units = 1;     // units of work in one replay
  // Queues this many replays on the session's stream: the device's own time counts.
  std::function<void(int)> replay;
  // Or does this many times what a caller does, from submitting to done: wall time counts.
  std::function<void(int)> run;
  std::optional<double> at_most_us;  // a goal
  std::function<void()> check;  // throws Mismatch where the outputs of the last replay are wrong
  KernelFacts facts;
  std::string unavailable;  // why it cannot be measured; empty where it can
};

struct Mismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct MeasureOptions {
  int rounds = 50;
  double sample_ms = 2;
  std::string only;       // rows whose name holds this text, with all rows if empty
  std::string json_file;  // gets the result; none if empty
};

struct Measured {
  Row row;
  std::vector<double> us;  // a unit of work, by round
  Estimate estimate() const { return median_interval(us); }
};

// time(against) / time(of): above 1 `of` is faster.
struct Ratio {
  std::string name, of;              // a row's name, or a family's
  std::vector<std::string> against;  // likewise; the fastest of all
  std::optional<double> at_least;
  // The other way round, where a cost is limited: time(of) / time(against) <= at_most.
  std::optional<double> at_most;
};

class Harness {
 public:
  Harness(Session& session, MeasureOptions options);
  ~Harness();
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;
  void add(Row row);
  void compare(Ratio ratio) { ratios_.push_back(std::move(ratio)); }
  void note(std::string name, Json value) { notes_[name] = std::move(value); }
  // Checks the outputs of all rows, picks the fastest of each family, measures, prints.
  void run(const std::string& title);

 private:
  void check_rows();
  void prepare(Measured& measured, int& replays);
  double device_us(const Row& row, int replays);
  double sample(const Row& row, int replays);  // microseconds a unit of work
  void pick_families();
  void measure();
  const Measured* find(const std::vector<std::string>& names) const;
  Json row_json(const Measured& measured) const;
  Json ratio_json(const Ratio& ratio) const;

  Session& session_;
  MeasureOptions options_;
  Event start_ = nullptr, end_ = nullptr;
  std::vector<Measured> rows_;
  std::vector<int> replays_;  // a sample, by row
  std::vector<Ratio> ratios_;
  Json candidates_ = Json::object();  // medians of the families' variants
  Json notes_ = Json::object();
};

}  // namespace fuseline::bench
