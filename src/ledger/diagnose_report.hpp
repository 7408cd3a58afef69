// The whole diagnosis, as text of 80 columns and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "ledger/diagnose.hpp"
#include "ledger/diagnose_fit.hpp"
#include "ledger/diagnose_null.hpp"
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
  std::string format;  // of the pictures
};

struct Diagnosis {
  Observed observed;
  std::vector<WhatIf> what_ifs;
  Measured<NullRun> null_run;
  Measured<GainRun> gain;
  Measured<Sweep> sweep;
  Roofline roofline;
  std::vector<Finding> findings;  // ranked
  Json environment;
  std::vector<std::string> warnings;
};

// Fills `findings` from all that was measured.
void conclude(Diagnosis& diagnosis);

std::string diagnosis_text(const Diagnosis& diagnosis);
Json diagnosis_json(const Diagnosis& diagnosis);

}  // namespace fuseline
