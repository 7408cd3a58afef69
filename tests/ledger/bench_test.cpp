// Warming up, series, blocks and load, on streams whose truth is known.
#include "ledger/bench.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <thread>

#include "fuseline/error.hpp"
#include "ledger/report.hpp"
#include "ledger/stage_file.hpp"
#include "ledger/stream.hpp"

namespace fuseline::test {
namespace {

RunSample sample_of(double ms) {
  RunSample sample;
  sample.account.wall = static_cast<Nanoseconds>(ms * 1e6);
  sample.account.rows = {{unexplained_row, sample.account.wall}};
  return sample;
}

TEST(WarmUp, ConstantTimesAreSteadyBehindThreeWindows) {
  Series series;
  warm_up(series, [] { return sample_of(10); }, {.seconds = 60});
  EXPECT_TRUE(series.steady);
  EXPECT_EQ(series.warm_up.size(), fewest_to_tell_steady);
  EXPECT_TRUE(series.wall.empty());
}

TEST(WarmUp, ASlowStartIsWaitedFor) {
  int run = 0;
  Series series;
  warm_up(series, [&] { return sample_of(++run <= 20 ? 30 - run : 10 + 0.01 * (run % 3)); },
          {.seconds = 60});
  EXPECT_TRUE(series.steady);
  EXPECT_EQ(series.cold(), 29);
  EXPECT_GE(series.warm_up.size(), 30u);
}

TEST(WarmUp, TimesThatKeepRisingAreNotSteady) {
  int run = 0;
  Series series;
  warm_up(series, [&] { return sample_of(10 + ++run); }, {.seconds = 20});
  EXPECT_FALSE(series.steady);
  EXPECT_GE(series.warm_up.size(), fewest_to_tell_steady);
}

TEST(Series, RowsOfEveryRunSumToItsWallTime) {
  auto machine = std::make_shared<NoisyMachine>(3);
  BenchPlan plan{.seconds = 1, .least_runs = 10};
  Series series = measure_series(stream(machine, 10), plan);
  ASSERT_EQ(series.row_names.size(), 3u);
  EXPECT_GE(series.wall.size(), 50u);
  for (std::size_t run = 0; run < series.wall.size(); ++run) {
    double sum = 0;
    for (const auto& row : series.rows) sum += row[run];
    EXPECT_NEAR(sum, series.wall[run], 1e-9);
  }
  EXPECT_EQ(series.resources["user"].size(), series.wall.size());
}

TEST(Series, ARowThatComesAndGoesIsZeroElsewhere) {
  int run = 0;
  Series series = measure_series(
      [&] {
        RunSample sample = sample_of(10);
        if (++run % 2) sample.account.rows.insert(sample.account.rows.begin(), {"rare", 0});
        return sample;
      },
      {.least_runs = 8, .most_runs = 8});
  EXPECT_EQ(series.row("rare").size(), series.wall.size());
  EXPECT_EQ(series.row("unheard of"), std::vector<double>(series.wall.size(), 0));
}

TEST(Series, AFailingRunEndsTheMeasurement) {
  int run = 0;
  RunOnce fails = [&]() -> RunSample {
    if (++run == 13) throw Error("exit code 1");
    return sample_of(1);
  };
  EXPECT_THROW(measure_series(fails, {}), Error);
}

TEST(Series, ChangedOutputsAreCounted) {
  int run = 0;
  Series series = measure_series(
      [&] {
        RunSample sample = sample_of(1);
        sample.output_hash = ++run == 14 ? 7 : 5;
        return sample;
      },
      {.least_runs = 6, .most_runs = 20});
  EXPECT_EQ(series.different_outputs, 1u);
}

TEST(SideBySide, BlocksHoldTwoRunsOfEachSideInChangingOrder) {
  std::string order;
  BenchPlan plan{.seconds = 0.001, .least_runs = 40, .most_runs = 40};
  plan.progress = [](double) {};
  auto side = [&](char name) {
    return [&order, name] {
      order += name;
      return sample_of(1);
    };
  };
  SideBySide sides = measure_side_by_side(side('a'), side('b'), plan);
  EXPECT_EQ(sides.before.wall.size(), 40u);
  EXPECT_EQ(sides.after.wall.size(), 40u);
  std::string blocks = order.substr(order.size() - 80);
  std::map<std::string, int> seen;
  for (std::size_t i = 0; i < blocks.size(); i += 4) ++seen[blocks.substr(i, 4)];
  for (const auto& [block, count] : seen)
    EXPECT_EQ(std::count(block.begin(), block.end(), 'a'), 2) << block;
  EXPECT_GE(seen.size(), 4u);
}

struct Counts {
  int same = 0, faster = 0, slower = 0, inconclusive = 0;
};

Counts verdicts(double before_ms, double after_ms, int trials) {
  Counts counts;
  for (int trial = 0; trial < trials; ++trial) {
    Verdict verdict =
        verdict_of(measured(before_ms, after_ms, 1000 + static_cast<std::uint64_t>(trial))).value();
    ++(verdict == Verdict::same     ? counts.same
       : verdict == Verdict::faster ? counts.faster
       : verdict == Verdict::slower ? counts.slower
                                    : counts.inconclusive);
  }
  return counts;
}

// 100 of each are in bench/peers ledger-truth.
TEST(SideBySide, EqualSidesAreTheSame) {
  Counts counts = verdicts(10, 10, 40);
  EXPECT_GE(counts.same, 38);
  EXPECT_EQ(counts.faster + counts.slower, 0);
}

TEST(SideBySide, ThreePercentAreFoundInBothDirections) {
  EXPECT_GE(verdicts(10, 10.3, 40).slower, 36);
  EXPECT_GE(verdicts(10.3, 10, 40).faster, 36);
}

TEST(SideBySide, TooMuchNoiseIsInconclusiveAndNotSame) {
  auto machine = std::make_shared<NoisyMachine>(5, 0.5);
  BenchPlan plan{.seconds = 0.1, .least_runs = 12};
  SideBySide sides = measure_side_by_side(stream(machine, 10), stream(machine, 10), plan);
  EXPECT_EQ(verdict_of(record_of(sides)), Verdict::inconclusive);
}

TEST(Load, ArrivalsKeepTheirRate) {
  std::vector<double> fixed = arrival_times(Arrivals::fixed, 20, 5, 1);
  EXPECT_EQ(fixed.size(), 100u);
  EXPECT_DOUBLE_EQ(fixed[37], 37 / 20.0);
  std::vector<double> poisson = arrival_times(Arrivals::poisson, 20, 500, 1);
  EXPECT_NEAR(static_cast<double>(poisson.size()), 10000, 300);
  // Gaps of a Poisson process vary as much as they last.
  std::vector<double> gaps;
  for (std::size_t i = 1; i < poisson.size(); ++i) gaps.push_back(poisson[i] - poisson[i - 1]);
  EXPECT_NEAR(median(gaps), std::log(2) / 20, 0.002);
  EXPECT_EQ(arrival_times(Arrivals::poisson, 20, 5, 1), arrival_times(Arrivals::poisson, 20, 5, 1));
}

// Every run takes 20 ms and one is due every 10 ms: the n-th starts n * 10 ms late.
TEST(Load, LatencyCountsFromTheIntendedStart) {
  RunOnce slow = [] {
    Nanoseconds begin = monotonic_now();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    RunSample sample = sample_of(0);
    sample.account.wall = monotonic_now() - begin;
    sample.account.rows = {{unexplained_row, sample.account.wall}};
    return sample;
  };
  Series series = measure_load(slow, arrival_times(Arrivals::fixed, 100, 0.1, 1), {.seconds = 0.1});
  ASSERT_EQ(series.latency.size(), 10u);
  double work = 0;
  for (std::size_t run = 0; run < series.latency.size(); ++run) {
    work += series.wall[run];
    EXPECT_GE(series.latency[run], work - 10.0 * static_cast<double>(run) - 0.01);
  }
  EXPECT_GE(series.latency.back(), 105);
}

}  // namespace
}  // namespace fuseline::test
