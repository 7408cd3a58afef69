// The sums of an account, on numbers that can be checked by hand.
#include "ledger/account.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "fuseline/error.hpp"

namespace fuseline {
namespace {

using testing::HasSubstr;

Account sample() {
  Account account;
  account.title = "Account of a sample";
  account.before = "4 kernels";
  account.after = "1 kernel";
  account.stages = {{"decode", {30, 30, 30}, {30, 30, 30}},
                    {"kernels", {10, 10, 10}, {2, 2, 2}},
                    {"encode", {60, 60, 60}, {60, 60, 60}}};
  account.notes = {"A note."};
  return account;
}

TEST(Account, SpeedupsSharesAndCeiling) {
  AccountSummary summary = summarize(sample());
  EXPECT_DOUBLE_EQ(summary.total.before.value, 100);
  EXPECT_DOUBLE_EQ(summary.total.after.value, 92);
  EXPECT_NEAR(summary.kernel_speedup->value, 5, 1e-12);
  EXPECT_NEAR(summary.end_to_end_speedup.value, 100.0 / 92, 1e-12);
  EXPECT_NEAR(summary.ceiling->value, 1 / (1 - 0.1), 1e-12);
  EXPECT_NEAR(summary.stages[1].share_before, 0.1, 1e-12);
  EXPECT_NEAR(summary.stages[1].share_after, 2.0 / 92, 1e-12);
  EXPECT_EQ(summary.bound_by, "encode");
}

TEST(Account, NeverBeatsItsCeiling) {
  AccountSummary summary = summarize(sample());
  EXPECT_LT(summary.end_to_end_speedup.value, summary.ceiling->value);
}

TEST(Account, IntervalsComeFromTheBlocks) {
  Account account = sample();
  account.stages[1].before = {8, 10, 30};
  AccountSummary summary = summarize(account);
  EXPECT_LT(summary.kernel_speedup->low, summary.kernel_speedup->high);
  EXPECT_NEAR(summary.kernel_speedup->value, 5, 1e-12);
  EXPECT_LT(summary.end_to_end_speedup.low, summary.end_to_end_speedup.high);
}

TEST(Account, VerdictsNeedMeasuredNoise) {
  EXPECT_FALSE(summarize(sample()).total.verdict);
  Account account = sample();
  for (AccountStage& stage : account.stages) {
    double kernels = stage.after[0];
    stage.before.assign(12, stage.before[0]);
    stage.after.assign(12, kernels);
    for (int i = 0; i < 24; ++i)
      stage.same_side.push_back({kernels * (1 + 0.001 * (i % 3)), kernels});
  }
  AccountSummary summary = summarize(account);
  EXPECT_EQ(summary.total.verdict, Verdict::faster);
  EXPECT_EQ(summary.stages[0].verdict, Verdict::same);
  EXPECT_EQ(summary.stages[1].verdict, Verdict::faster);
  EXPECT_LT(summary.total.noise_floor.value(), 0.0021);
  EXPECT_THAT(verdict_line(summary, "kernels"),
              testing::StartsWith("FASTER: end to end 1.09x [1.09, 1.09]; kernels 5.00x"));
  EXPECT_EQ(account_json(account)["end_to_end"]["verdict"], "FASTER");
}

TEST(Account, AStageThatVanishedHasNoSpeedup) {
  Account account = sample();
  account.stages[1].after = {0, 0, 0};
  account.kernels.clear();
  AccountSummary summary = summarize(account);
  EXPECT_FALSE(summary.stages[1].speedup);
  EXPECT_FALSE(summary.ceiling);
  EXPECT_TRUE(account_json(account)["ceiling"].is_null());
  EXPECT_THAT(account_text(account), testing::Not(HasSubstr("ceiling")));
}

TEST(Account, TextFitsTheTerminalAndShowsBothSpeedups) {
  Account account = sample();
  account.stages[0].before = {123456.7, 234567.8, 345678.9};
  std::string text = account_text(account);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  for (const char* part : {"Account of a sample", "kernels     5.00x", "end to end  ", "ceiling",
                           "bound by", "A note."})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_FALSE(text.ends_with('\n'));
}

TEST(Account, JsonHoldsTheSameNumbers) {
  Json json = account_json(sample());
  EXPECT_EQ(json["blocks"], 3);
  EXPECT_EQ(json["stages"].size(), 3u);
  EXPECT_DOUBLE_EQ(json["end_to_end"]["after"]["value"], 92);
  EXPECT_NEAR(json["kernel_speedup"]["value"].get<double>(), 5, 1e-12);
}

TEST(Account, RefusesStagesThatDoNotMatch) {
  Account account = sample();
  account.stages[2].after.pop_back();
  EXPECT_THROW(summarize(account), InternalError);
  account = sample();
  account.kernels = "nothing";
  EXPECT_THROW(summarize(account), InternalError);
}

}  // namespace
}  // namespace fuseline
