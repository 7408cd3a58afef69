// Clocks: when a measurement may begin, and what of a gain they explain.
#include "ledger/clocks.hpp"

#include <gmock/gmock.h>

#include "ledger/report.hpp"
#include "ledger/run_watch.hpp"
#include "ledger/stream.hpp"

namespace fuseline {
namespace {

using testing::HasSubstr;

// Runs of one time; the clock falls by a step each run until it has come down.
RunOnce falling_clock(double from, double step, double to, const char* name = seen::cpu_mhz) {
  auto mhz = std::make_shared<double>(from);
  return [=] {
    RunSample sample;
    sample.account = {1'000'000, {{"kernels", 600'000}, {unexplained_row, 400'000}}, {}};
    sample.seen[name] = *mhz;
    *mhz = std::max(*mhz - step, to);
    return sample;
  };
}

TEST(Clocks, WarmingUpLastsUntilTheClockIsAtRest) {
  BenchPlan plan;
  Series quick, slow, never;
  warm_up(quick, falling_clock(3000, 0, 3000), plan);
  EXPECT_EQ(quick.warm_up.size(), fewest_to_tell_steady);
  EXPECT_TRUE(quick.steady);
  warm_up(slow, falling_clock(3000, 30, 2400), plan);
  EXPECT_TRUE(slow.steady);
  EXPECT_GT(slow.warm_up.size(), 25u);
  plan.most_runs = 40;
  warm_up(never, falling_clock(3000, 30, 0, seen::gpu_mhz), plan);
  EXPECT_FALSE(never.steady);
  EXPECT_EQ(never.moving, "the GPU clock");
}

TEST(Clocks, AClockThatWasNotSeenInEveryRunIsNotJudged) {
  BenchPlan plan;
  int run = 0;
  RunOnce clock = falling_clock(3000, 30, 0);
  Series series;
  warm_up(
      series,
      [&] {
        RunSample sample = clock();
        if (++run % 3 == 0) sample.seen.clear();
        return sample;
      },
      plan);
  EXPECT_TRUE(series.steady);
}

RunRecord record_with(const char* clock, double before_mhz, double after_mhz) {
  SideBySide sides;
  for (int i = 0; i < 20; ++i) {
    RunSample sample;
    sample.account = {10'000'000, {{"kernels", 4'000'000}, {unexplained_row, 6'000'000}}, {}};
    sample.seen[clock] = before_mhz;
    sides.before.add(sample);
    sample.seen[clock] = after_mhz;
    sides.after.add(sample);
  }
  return test::record_of(sides);
}

TEST(Clocks, AHigherClockExplainsSoMuch) {
  RunRecord record = record_with(seen::cpu_mhz, 2000, 2500);
  std::vector<ClockShare> shares = clock_shares(record);
  ASSERT_EQ(shares.size(), 1u) << "there is no GPU in this record";
  // 10 ms at 2000 MHz are 8 ms at 2500.
  EXPECT_DOUBLE_EQ(shares[0].saved_ms->value, 2);
  EXPECT_THAT(clock_text(shares[0]), HasSubstr("CPU 2000 -> 2500 MHz: 2.00 [2.00, 2.00] ms"));
  EXPECT_THAT(report_text(record), HasSubstr("clocks      CPU 2000 -> 2500 MHz"));
  EXPECT_DOUBLE_EQ(report_json(record)["clocks"][0]["saved_ms"]["value"], 2);
}

TEST(Clocks, AGpusClockMovesItsKernelsOnly) {
  RunRecord record = record_with(seen::gpu_mhz, 1980, 990);
  record.environment["hardware"]["gpus"] = {"G100"};
  std::vector<ClockShare> shares = clock_shares(record);
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_THAT(clock_text(shares[0]), HasSubstr("CPU not measured: the system tells no clock"));
  EXPECT_DOUBLE_EQ(shares[1].saved_ms->value, -4);
  EXPECT_EQ(shares[1].follows, "kernels");
}

TEST(Clocks, WhatWasNotMeasuredIsNotZero) {
  RunRecord record = record_with("something else", 1, 2);
  record.environment["hardware"]["gpus"] = {"G100"};
  for (const ClockShare& share : clock_shares(record)) {
    EXPECT_TRUE(share.mhz.empty() && !share.saved_ms);
    EXPECT_THAT(clock_text(share), HasSubstr("not measured: "));
  }
  EXPECT_TRUE(report_json(record)["clocks"][0]["saved_ms"].is_null());
}

}  // namespace
}  // namespace fuseline
