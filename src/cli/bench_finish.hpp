// What every measurement of `fuseline bench` ends with: warnings, the ledger, the report.
#pragma once

#include <string>
#include <vector>

#include "cli/bench_options.hpp"
#include "cli/progress.hpp"

namespace fuseline::cli {

class PercentBar {
 public:
  void show(double share) {
    for (; shown_ < static_cast<int>(100 * share); ++shown_) progress_.advance();
  }

 private:
  int shown_ = 0;
  Progress progress_{"% of the time", 100};
};

std::string utc_now();  // as records keep it
// A line for each output that changed.
std::vector<std::string> output_warnings(const RunRecord& record);
// Keeps the record and prints its report; the exit code.
int finish_bench(RunRecord& record, const BenchOptions& options);

}  // namespace fuseline::cli
