// The sums behind an account.
#include "ledger/account.hpp"

#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "ledger/rank_tests.hpp"

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
  std::size_t pairs = account.stages.front().same_side.size();
  require(blocks > 0, "an account without blocks");
  for (const AccountStage& stage : account.stages) {
    require(stage.before.size() == blocks && stage.after.size() == blocks,
            "an account whose stages have different numbers of blocks");
    require(stage.same_side.size() == pairs, "an account with the noise of some stages only");
  }
}

bool all_positive(const AccountStage& stage) {
  auto positive = [](double time) { return time > 0; };
  return std::all_of(stage.before.begin(), stage.before.end(), positive) &&
         std::all_of(stage.after.begin(), stage.after.end(), positive);
}

AccountRow make_row(const AccountStage& stage) {
  AccountRow row;
  row.name = stage.name;
  row.before = median_interval(stage.before);
  row.after = median_interval(stage.after);
  for (std::size_t block = 0; block < stage.before.size(); ++block)
    row.saved +=
        (stage.before[block] - stage.after[block]) / static_cast<double>(stage.before.size());
  row.noise_floor = noise_floor(stage.same_side);
  if (!all_positive(stage)) return row;
  std::vector<BlockPair> pairs;
  for (std::size_t block = 0; block < stage.before.size(); ++block)
    pairs.push_back({stage.before[block], stage.after[block]});
  row.speedup = paired_ratio(pairs);
  return row;
}

double p_of(const AccountStage& stage) {
  std::vector<double> logs;
  for (std::size_t block = 0; block < stage.before.size(); ++block)
    logs.push_back(std::log(stage.before[block]) - std::log(stage.after[block]));
  return wilcoxon_p(logs);
}

void judge_row(AccountRow& row, double threshold, double adjusted_p) {
  if (!row.speedup || !row.noise_floor) return;
  row.verdict =
      judge(*row.speedup, {.threshold = threshold, .noise_floor = *row.noise_floor}, adjusted_p);
}

void judge_stages(const Account& account, std::vector<AccountRow>& rows) {
  std::vector<std::size_t> asked;
  std::vector<double> p_values;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].speedup && rows[i].noise_floor) {
      asked.push_back(i);
      p_values.push_back(p_of(account.stages[i]));
    }
  std::vector<double> adjusted = holm(p_values);
  for (std::size_t i = 0; i < asked.size(); ++i)
    judge_row(rows[asked[i]], account.threshold, adjusted[i]);
}

// All stages of a block together; pairs of equal sides likewise.
AccountStage end_to_end(const Account& account) {
  AccountStage total{"end to end", sums(account, &AccountStage::before),
                     sums(account, &AccountStage::after)};
  total.same_side.resize(account.stages.front().same_side.size());
  for (const AccountStage& stage : account.stages)
    for (std::size_t i = 0; i < total.same_side.size(); ++i) {
      total.same_side[i].numerator += stage.same_side[i].numerator;
      total.same_side[i].denominator += stage.same_side[i].denominator;
    }
  return total;
}

std::optional<Estimate> amdahl_ceiling(const Account& account, const AccountStage& total) {
  if (account.kernels.empty()) return std::nullopt;
  auto found = std::find_if(account.stages.begin(), account.stages.end(),
                            [&](const AccountStage& s) { return s.name == account.kernels; });
  require(found != account.stages.end(), "an account without a stage of kernels");
  std::vector<double> ceilings;
  for (std::size_t block = 0; block < total.before.size(); ++block)
    ceilings.push_back(total.before[block] / (total.before[block] - found->before[block]));
  return median_interval(ceilings);
}

Json row_json(const AccountRow& row) {
  return {{"name", row.name},
          {"before", estimate_json(row.before)},
          {"after", estimate_json(row.after)},
          {"saved", row.saved},
          {"share_before", row.share_before},
          {"share_after", row.share_after},
          {"speedup", estimate_json(row.speedup)},
          {"noise_floor", row.noise_floor ? Json(*row.noise_floor) : Json(nullptr)},
          {"verdict", row.verdict ? Json(name_of(*row.verdict)) : Json(nullptr)}};
}

}  // namespace

AccountSummary summarize(const Account& account) {
  check(account);
  AccountStage total = end_to_end(account);
  AccountSummary summary;
  summary.total = make_row(total);
  if (!summary.total.speedup) fail("account: a block without any time cannot be compared");
  judge_row(summary.total, account.threshold, p_of(total));
  summary.total.share_before = summary.total.share_after = 1;
  for (const AccountStage& stage : account.stages) {
    AccountRow row = make_row(stage);
    row.share_before = row.before.value / summary.total.before.value;
    row.share_after = row.after.value / summary.total.after.value;
    if (stage.name == account.kernels) summary.kernel_speedup = row.speedup;
    summary.stages.push_back(std::move(row));
  }
  judge_stages(account, summary.stages);
  summary.end_to_end_speedup = *summary.total.speedup;
  summary.ceiling = amdahl_ceiling(account, total);
  summary.bound_by = std::max_element(summary.stages.begin(), summary.stages.end(),
                                      [](const AccountRow& a, const AccountRow& b) {
                                        return a.share_after < b.share_after;
                                      })
                         ->name;
  return summary;
}

Json estimate_json(const std::optional<Estimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"value", estimate->value}, {"low", estimate->low}, {"high", estimate->high}};
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
