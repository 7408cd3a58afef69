// The whole diagnosis, as text of 80 columns and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "ledger/diagnose.hpp"
#include "ledger/diagnose_fit.hpp"
#include "ledger/diagnose_null.hpp"
#include "ledger/diagnose_shapes.hpp"
#include "ledger/roofline.hpp"

namespace fuseline {

// An experiment that was not made says why, and never shows as zero.
template <class T>
struct Measured {
  std::optional<T> value;
  std::string why_not;
};

struct Sweep {
  std::vector<SizePoint> points;
  std::string how;   // "the picture re-encoded as PNG"
  std::string unit;  // "megapixel"
};

struct Diagnosis {
  Observed observed;
  std::string object;  // what the experiments ran, where that is not all of the command
  std::vector<WhatIf> what_ifs;
  Measured<NullRun> null_run;
  Measured<TimedRun> timed;
  Measured<GainRun> gain;
  Measured<Sweep> sweep;
  bool sweeps_shapes = false;  // whether these two were asked for
  Measured<std::vector<ShapeSweep>> shapes;
  Measured<ThreadSweep> threads;
  Roofline roofline;
  std::vector<Finding> findings;  // ranked
  Json environment;
  std::vector<std::string> warnings;
};

// Fills `findings` from all that was measured.
void conclude(Diagnosis& diagnosis);

std::string diagnosis_text(const Diagnosis& diagnosis);
std::string experiments_text(const Diagnosis& diagnosis);  // a part of it
Json diagnosis_json(const Diagnosis& diagnosis);

}  // namespace fuseline
