// A sweep over the shapes of launches, and what it says of the shape that was taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "ledger/bench.hpp"

namespace fuseline {

// One way to launch a kernel.
struct ShapeRow {
  int threads = 0;   // a block
  int items = 0;     // groups of lanes a thread takes
  int resident = 0;  // blocks that a multiprocessor must hold, which limits registers; 0: no limit
  double us = 0;     // the best of several rounds
  std::optional<int> registers, spill_bytes;
  std::optional<double> occupancy;  // share of the threads that a multiprocessor holds
};

struct ShapeSweep {
  std::string kernel;
  std::vector<ShapeRow> rows;
  std::size_t taken = 0;  // position of the shape that runs use
  std::size_t best() const;
  // Whether nothing is faster than the taken one by more than the noise of the rounds.
  bool taken_is_best() const;
};

// Threads of a command, each count run in turn.
struct ThreadRow {
  int threads = 0;
  Series series;
};
struct ThreadSweep {
  std::vector<ThreadRow> rows;
  int usual = 0;  // what the command takes by itself
};

std::string shapes_text(const std::vector<ShapeSweep>& sweeps);
Json shapes_json(const std::vector<ShapeSweep>& sweeps);
std::string threads_text(const ThreadSweep& sweep);
Json threads_json(const ThreadSweep& sweep);

}  // namespace fuseline
