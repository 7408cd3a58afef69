// What of a gain the clocks can explain: a side that ran at a higher clock was not better for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "ledger/run_record.hpp"

namespace fuseline {

struct ClockShare {
  std::string name;                  // "CPU" or "GPU"
  std::vector<Estimate> mhz;         // of each side; empty where it was not measured
  std::string why_not;               // then
  std::optional<Estimate> saved_ms;  // of two sides: by the clock, at most
  std::string follows;               // the time that follows it: "all time", "kernels"
};

// The CPU's, and the GPU's where there is one. The time that can follow a clock is all of the first
// side's for the CPU, and its kernels for the GPU.
std::vector<ClockShare> clock_shares(const RunRecord& record);

std::string clock_text(const ClockShare& share);
Json clocks_json(const std::vector<ClockShare>& shares);

}  // namespace fuseline
