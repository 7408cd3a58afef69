// The before/after account: what a change of the kernels bought, at the kernels and end to end.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "ledger/stats.hpp"

namespace fuseline {

// Times of one stage, in milliseconds, one for each block of an interleaved measurement.
struct AccountStage {
  std::string name;
  std::vector<double> before;
  std::vector<double> after;
};

// Every stage has the same number of blocks; entries of one index were measured next to each
// other. The stages follow each other and overlap nowhere, so a block's end-to-end time is their
// sum.
struct Account {
  std::string title;   // what was measured, and where
  std::string before;  // what the two sides are
  std::string after;
  std::string kernels = "kernels";  // name of the stage that is kernels
  std::vector<AccountStage> stages;
  std::vector<std::string> notes;
};

struct AccountRow {
  std::string name;
  Estimate before, after;   // ms
  Estimate speedup;         // before / after, over the blocks
  double share_before = 0;  // of the end-to-end median
  double share_after = 0;
};

struct AccountSummary {
  std::vector<AccountRow> stages;
  AccountRow total;
  Estimate kernel_speedup;
  Estimate end_to_end_speedup;
  // Amdahl: the end-to-end speed-up that kernels without any cost would give.
  Estimate ceiling;
  std::string bound_by;  // the stage with the largest share after
};

AccountSummary summarize(const Account& account);

// At most 80 columns; no kernel speed-up without the end-to-end one beside it.
std::string account_text(const Account& account);
Json account_json(const Account& account);

}  // namespace fuseline
