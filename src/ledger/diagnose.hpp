// What bounds a measured command: findings with their evidence, ranked by what they could gain.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/bench.hpp"

namespace fuseline {

// What a row of the account is about. Names of stages tell (docs/ledger.md lists the words); a
// stage with a name of its own is a `stage`.
enum class Bound { input, output, copy, launch, kernel, sync, start, stage, overlap, unmarked };
std::string_view name_of(Bound bound);  // "copy-bound"
std::string advice_for(Bound bound);
Bound bound_of_row(const std::string& row, const std::string& kernels);

// A command as it was measured.
struct Observed {
  std::vector<std::string> command;
  Series series;
  std::map<std::string, double> spans;  // by stage: how many a run
  std::string kernels = "kernels";      // the stage that is kernels
  int processors = 1;
};

struct Finding {
  Bound bound = Bound::stage;
  std::vector<std::string> rows;  // whose time it is; empty: not a row of the account
  double gain_ms = 0;             // a run, at most
  Estimate speedup;               // end to end, were that gained
  bool measured = false;          // by a run without it; otherwise by arithmetic
  std::string evidence, advice;
};

// End to end, were these rows `factor` times faster; infinite: were they free.
Estimate speedup_with(const Series& series, const std::vector<std::string>& rows, double factor);

struct WhatIf {
  std::string stage;
  double factor = 1;
  Estimate before_ms, after_ms, speedup;
  bool hidden = false;  // the stage never ran alone, so its own time gains nothing
};
// Error for a stage that was not marked, naming those that were.
WhatIf what_if(const Observed& observed, const std::string& stage, double factor);

// The largest gain first. Rows below a hundredth of the wall time are left out.
std::vector<Finding> findings_of(const Observed& observed);
void rank(std::vector<Finding>& findings);

}  // namespace fuseline
