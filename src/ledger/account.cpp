// The sums behind an account.
#include "ledger/account.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace fuseline {
namespace {

std::vector<double> sums(const Account& account, std::vector<double> AccountStage::*side) {
  std::vector<double> total((account.stages.front().*side).size());
  for (const AccountStage& stage : account.stages)
    for (std::size_t block = 0; block < total.size(); ++block) total[block] += (stage.*side)[block];
  return total;
}

void check(const Account& account) {
  require(!account.stages.empty(), "an account without stages");
  std::size_t blocks = account.stages.front().before.size();
  require(blocks > 0, "an account without blocks");
  for (const AccountStage& stage : account.stages)
    require(stage.before.size() == blocks && stage.after.size() == blocks,
            "an account whose stages have different numbers of blocks");
}

AccountRow make_row(const AccountStage& stage) {
  AccountRow row{stage.name, median_interval(stage.before), median_interval(stage.after), {}, 0, 0};
  std::vector<BlockPair> pairs;
  for (std::size_t block = 0; block < stage.before.size(); ++block)
    pairs.push_back({stage.before[block], stage.after[block]});
  row.speedup = paired_ratio(pairs);
  return row;
}

const AccountStage& kernel_stage(const Account& account) {
  auto found = std::find_if(account.stages.begin(), account.stages.end(),
                            [&](const AccountStage& s) { return s.name == account.kernels; });
  require(found != account.stages.end(), "an account without a stage of kernels");
  return *found;
}

Estimate amdahl_ceiling(const Account& account, const AccountStage& total) {
  const AccountStage& kernels = kernel_stage(account);
  std::vector<double> ceilings;
  for (std::size_t block = 0; block < total.before.size(); ++block)
    ceilings.push_back(total.before[block] / (total.before[block] - kernels.before[block]));
  return median_interval(ceilings);
}

Json estimate_json(const Estimate& estimate) {
  return {{"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}};
}

Json row_json(const AccountRow& row) {
  return {{"name", row.name},
          {"before", estimate_json(row.before)},
          {"after", estimate_json(row.after)},
          {"share_before", row.share_before},
          {"share_after", row.share_after},
          {"speedup", estimate_json(row.speedup)}};
}

}  // namespace

AccountSummary summarize(const Account& account) {
  check(account);
  AccountStage total{"end to end", sums(account, &AccountStage::before),
                     sums(account, &AccountStage::after)};
  AccountSummary summary;
  summary.total = make_row(total);
  summary.total.share_before = summary.total.share_after = 1;
  for (const AccountStage& stage : account.stages) {
    AccountRow row = make_row(stage);
    row.share_before = row.before.value / summary.total.before.value;
    row.share_after = row.after.value / summary.total.after.value;
    if (stage.name == account.kernels) summary.kernel_speedup = row.speedup;
    summary.stages.push_back(std::move(row));
  }
  summary.end_to_end_speedup = summary.total.speedup;
  summary.ceiling = amdahl_ceiling(account, total);
  summary.bound_by = std::max_element(summary.stages.begin(), summary.stages.end(),
                                      [](const AccountRow& a, const AccountRow& b) {
                                        return a.share_after < b.share_after;
                                      })
                         ->name;
  return summary;
}

Json account_json(const Account& account) {
  AccountSummary summary = summarize(account);
  Json stages = Json::array();
  for (const AccountRow& row : summary.stages) stages.push_back(row_json(row));
  return {{"unit", "ms"},
          {"blocks", account.stages.front().before.size()},
          {"before", account.before},
          {"after", account.after},
          {"stages", std::move(stages)},
          {"end_to_end", row_json(summary.total)},
          {"kernel_speedup", estimate_json(summary.kernel_speedup)},
          {"end_to_end_speedup", estimate_json(summary.end_to_end_speedup)},
          {"ceiling", estimate_json(summary.ceiling)},
          {"bound_by", summary.bound_by}};
}

}  // namespace fuseline
