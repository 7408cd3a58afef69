// The before/after account: what a change of the kernels bought, at the kernels and end to end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "ledger/verdict.hpp"

namespace fuseline {

// Times of one stage, in milliseconds, one for each block of an interleaved measurement.
struct AccountStage {
  std::string name;
  std::vector<double> before;
  std::vector<double> after;
  // Pairs of runs of one side, measured next to each other; empty: the noise was not measured.
  std::vector<BlockPair> same_side = {};
};

// Every stage has the same number of blocks; entries of one index were measured next to each
// other. The stages follow each other and overlap nowhere, so a block's end-to-end time is their
// sum.
struct Account {
  std::string title;   // what was measured, and where
  std::string before;  // what the two sides are
  std::string after;
  std::string kernels = "kernels";  // name of the stage that is kernels; empty: none is
  double threshold = 0.02;          // effects up to this share do not matter
  std::vector<AccountStage> stages;
  std::vector<std::string> notes;
};

// Below that no test can reject: of five differences, all of one sign still have p = 1/16.
inline constexpr std::size_t fewest_blocks_for_verdict = 6;

struct AccountRow {
  std::string name;
  Estimate before, after;  // ms
  double saved = 0;        // ms, the mean of before - after; those of the stages sum to the whole
  // before / after over the blocks; none for a stage that lacks time in a block of one side.
  std::optional<Estimate> speedup;
  std::optional<double> noise_floor;  // of equal sides; none where it was not measured
  std::optional<Verdict> verdict;     // only where the noise was measured
  double share_before = 0;            // of the end-to-end median
  double share_after = 0;
};

struct AccountSummary {
  std::vector<AccountRow> stages;
  AccountRow total;
  std::optional<Estimate> kernel_speedup;
  Estimate end_to_end_speedup;
  // Amdahl: the end-to-end speed-up that kernels without any cost would give.
  std::optional<Estimate> ceiling;
  std::string bound_by;  // the stage with the largest share after
};

// Verdicts of the stages are corrected for their number (Holm); the end-to-end verdict is the one
// question that was asked beforehand.
AccountSummary summarize(const Account& account);
// "FASTER: end to end 1.31x [1.28, 1.34]; kernels 9.80x; ceiling 1.36x; bound by decode", or the
// same without a verdict.
std::string verdict_line(const AccountSummary& summary, const std::string& kernels);

// At most 80 columns; no kernel speed-up without the end-to-end one beside it.
std::string account_text(const Account& account);
Json account_json(const Account& account);
// {"value", "low", "high"}, or null.
Json estimate_json(const std::optional<Estimate>& estimate);

}  // namespace fuseline
