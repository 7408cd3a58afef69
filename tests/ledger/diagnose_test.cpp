// Diagnoses of times that are known: ceilings, what-ifs, fits, splits, and which bound is named.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

#include "fuseline/error.hpp"
#include "ledger/diagnose_report.hpp"

namespace fuseline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Part {
  const char* row;
  double ms;
  double spans = 1;
};

// Every run of the parts takes the same time.
Observed observed(const std::vector<Part>& parts, std::size_t runs = 20) {
  Observed result;
  result.command = {"./frame"};
  RunSample sample;
  for (const Part& part : parts) {
    auto time = static_cast<Nanoseconds>(part.ms * 1e6);
    sample.account.wall += time;
    sample.account.rows.push_back({part.row, time});
    if (part.row == std::string(sync_row) || part.row == std::string(unexplained_row)) continue;
    sample.account.busy.push_back({part.row, time, static_cast<std::int64_t>(part.spans)});
    result.spans[part.row] = part.spans;
  }
  sample.user_seconds = static_cast<double>(sample.account.wall) / 1e9;
  sample.system_seconds = 0;
  for (std::size_t i = 0; i < runs; ++i) result.series.add(sample);
  result.series.warm_up = {1};
  return result;
}

std::vector<Bound> bounds_of(const Observed& what) {
  std::vector<Bound> bounds;
  for (const Finding& finding : findings_of(what)) bounds.push_back(finding.bound);
  return bounds;
}

TEST(WhatIf, AKernelSixTimesFasterInASlowFrame) {
  Observed frame = observed({{"decode", 38.2}, {"kernels", 11.8}, {unexplained_row, 0}});
  WhatIf answer = what_if(frame, "kernels", 11.8 / 1.8);
  EXPECT_NEAR(answer.before_ms.value, 50, 1e-9);
  EXPECT_NEAR(answer.after_ms.value, 40, 1e-9);
  EXPECT_NEAR(answer.speedup.value, 1.25, 1e-9);
  EXPECT_NEAR(speedup_with(frame.series, {"kernels"}, INFINITY).value, 50 / 38.2, 1e-9);
  // Slower is a question, too.
  EXPECT_NEAR(what_if(frame, "kernels", 0.5).after_ms.value, 61.8, 1e-9);
}

TEST(WhatIf, AStageThatNobodyMarked) {
  Observed frame = observed({{"decode", 5}, {unexplained_row, 1}});
  EXPECT_THROW(
      {
        try {
          what_if(frame, "dcode", 2);
        } catch (const Error& error) {
          EXPECT_THAT(error.what(), HasSubstr("\"dcode\" was marked; there are: decode"));
          throw;
        }
      },
      Error);
}

TEST(WhatIf, AStageThatAlwaysRunsBesideAnother) {
  Observed frame = observed({{"overlap{decode+load}", 5}, {unexplained_row, 1}});
  frame.series.busy["load"] = std::vector<double>(frame.series.wall.size(), 5.0);
  WhatIf answer = what_if(frame, "load", 10);
  EXPECT_TRUE(answer.hidden);
  EXPECT_DOUBLE_EQ(answer.speedup.value, 1);
}

TEST(Findings, RankedByTheirGain) {
  Observed frame =
      observed({{"decode", 5}, {"h2d", 20}, {"kernels", 10}, {"encode", 2}, {unexplained_row, 3}});
  EXPECT_THAT(bounds_of(frame), ElementsAre(Bound::copy, Bound::kernel, Bound::input,
                                            Bound::unmarked, Bound::output));
  Finding first = findings_of(frame).front();
  EXPECT_NEAR(first.gain_ms, 20, 1e-9);
  EXPECT_NEAR(first.speedup.value, 2, 1e-9);
  EXPECT_THAT(first.evidence, HasSubstr("50.0 % of 40.0 ms"));
}

TEST(Findings, RowsBelowAHundredthAreLeftOut) {
  EXPECT_THAT(bounds_of(observed({{"kernels", 99.5}, {"decode", 0.5}})),
              ElementsAre(Bound::kernel));
}

TEST(Findings, ManyShortKernelsWithWaitsBetweenThem) {
  // 1000 kernels of 5 us, 30 us of waiting behind each.
  Observed frame =
      observed({{"kernels", 5, 1000}, {"decode", 4}, {sync_row, 30}, {unexplained_row, 1}});
  std::vector<Finding> findings = findings_of(frame);
  EXPECT_EQ(findings[0].bound, Bound::launch);
  EXPECT_THAT(findings[0].rows, ElementsAre("kernels", sync_row));
  EXPECT_NEAR(findings[0].gain_ms, 35, 1e-9);
  EXPECT_THAT(findings[0].evidence, HasSubstr("1000 spans of kernels a run, 5.00 us each"));
  // The same waits behind two long kernels are no launches.
  frame = observed({{"kernels", 5, 2}, {"decode", 4}, {sync_row, 30}, {unexplained_row, 1}});
  EXPECT_EQ(findings_of(frame)[0].bound, Bound::sync);
  // Many kernels of a millisecond are work.
  frame = observed({{"kernels", 1000, 1000}, {sync_row, 30}});
  EXPECT_EQ(findings_of(frame)[0].bound, Bound::kernel);
}

TEST(Findings, NamesOfStages) {
  EXPECT_EQ(bound_of_row("Decode JPEG", "kernels"), Bound::input);
  EXPECT_EQ(bound_of_row("copy_to_gpu", "kernels"), Bound::copy);
  EXPECT_EQ(bound_of_row("launch", "kernels"), Bound::launch);
  EXPECT_EQ(bound_of_row("decode", "decode"), Bound::kernel);
  EXPECT_EQ(bound_of_row("load kernels", "kernels"), Bound::start);
  EXPECT_EQ(bound_of_row("overlap{decode+kernels}", "kernels"), Bound::overlap);
  EXPECT_EQ(bound_of_row("widget", "kernels"), Bound::stage);
}

Series series_of(double ms, std::mt19937_64& engine, double sigma) {
  std::normal_distribution<double> noise(0, sigma);
  Series series;
  for (int i = 0; i < 30; ++i) {
    RunSample sample;
    sample.account.wall = static_cast<Nanoseconds>(1e6 * (ms + noise(engine)));
    sample.account.rows = {{"decode", sample.account.wall}};
    series.add(sample);
  }
  return series;
}

std::vector<SizePoint> points_of(double fixed, double slope, double sigma) {
  std::mt19937_64 engine(7);
  std::vector<SizePoint> points;
  for (std::int64_t side : {1000, 2000, 4000}) {
    SizePoint point{std::to_string(side), static_cast<double>(side * side) / 1e6, {}};
    point.series = series_of(fixed + slope * point.amount, engine, sigma);
    points.push_back(std::move(point));
  }
  return points;
}

TEST(SizeFit, FindsTheLine) {
  std::vector<SizeFit> exact = fit_sizes(points_of(5, 2, 0));
  ASSERT_EQ(exact.size(), 2u);
  EXPECT_EQ(exact[1].row, "decode");
  EXPECT_NEAR(exact[0].fixed_ms.value, 5, 1e-6);
  EXPECT_NEAR(exact[0].per_unit_ms.value, 2, 1e-6);
  EXPECT_NEAR(exact[0].off_line, 0, 1e-6);
  SizeFit noisy = fit_sizes(points_of(5, 2, 0.5)).front();
  EXPECT_LT(noisy.fixed_ms.low, 5);
  EXPECT_GT(noisy.fixed_ms.high, 5);
  EXPECT_LT(noisy.per_unit_ms.low, 2);
  EXPECT_GT(noisy.per_unit_ms.high, 2);
  EXPECT_LT(noisy.fixed_ms.high - noisy.fixed_ms.low, 1);
}

TEST(SizeFit, EverySizeRunsInEveryRound) {
  std::vector<int> counts(3);
  std::vector<RunOnce> runs;
  for (int i = 0; i < 3; ++i)
    runs.push_back([&counts, i] {
      ++counts[static_cast<std::size_t>(i)];
      RunSample sample;
      sample.account.wall = 1000 * (i + 1);
      return sample;
    });
  BenchPlan plan;
  plan.seconds = 1e-9;
  plan.least_runs = 10;
  std::vector<Series> all = measure_in_turn(runs, plan);
  EXPECT_THAT(counts, ElementsAre(11, 11, 11));  // one warm-up each
  EXPECT_EQ(all[2].wall, std::vector<double>(10, 0.003));
}

TEST(NullRun, TheCeilingsAgreeOrNot) {
  NullRun run;
  for (int i = 0; i < 20; ++i) {
    double wave = 0.1 * (i % 5);
    run.real.push_back(50 + wave);
    run.kernels.push_back(10);
    run.null.push_back(40 + wave + 0.01 * (i % 3 - 1));
  }
  NullCeiling ceiling = ceiling_of(run);
  EXPECT_NEAR(ceiling.measured.value, 1.25, 0.005);
  EXPECT_NEAR(ceiling.arithmetic.value, 1.25, 0.005);
  EXPECT_TRUE(ceiling.agree);
  // Kernels that hide other work: without them the frame is hardly faster.
  for (double& ms : run.null) ms += 6;
  EXPECT_FALSE(ceiling_of(run).agree);
}

TEST(NullRun, LaunchesAreWhatIsLeftOfKernelsThatDoNothing) {
  NullRun run;
  for (int i = 0; i < 20; ++i) {
    double wave = 0.1 * (i % 5);
    run.real.push_back(50 + wave);
    run.null.push_back(40 + wave);
    run.no_kernels.push_back(34 + wave);
    run.kernels.push_back(16);
  }
  NullCeiling ceiling = ceiling_of(run);
  EXPECT_NEAR(ceiling.kernels_ms.value, 10, 1e-9);
  EXPECT_NEAR(ceiling.launches_ms.value, 6, 1e-9);
  EXPECT_NEAR(ceiling.without_launches.value, 50.0 / 34, 0.005);
  // The kernels were timed with their launches, so they vanish together.
  EXPECT_FALSE(ceiling.against_null);
  EXPECT_TRUE(ceiling.agree);
  run.with_launches = false;
  EXPECT_TRUE(ceiling_of(run).against_null);
  EXPECT_FALSE(ceiling_of(run).agree);
}

TimedRun timed_run() {
  using Kind = DeviceStep::Kind;
  TimedRun run;
  run.plain = std::vector<double>(9, 4.0);
  run.timed = std::vector<double>(9, 4.4);
  run.steps = {
      {Kind::upload, "frame", 24e6, std::vector<double>(9, 3000.0), {}},
      {Kind::kernel, "fl_mask", 0, std::vector<double>(9, 13.0), std::vector<double>(9, 10.0)},
      {Kind::download, "mask", 8e6, std::vector<double>(9, 500.0), {}}};
  return run;
}

TEST(TimedRun, SharesOfThePlainRun) {
  TimedShares shares = shares_of(timed_run());
  EXPECT_NEAR(shares.ratio.value, 1.1, 1e-9);
  EXPECT_NEAR(shares.kernels_ms, 0.010, 1e-9);
  EXPECT_NEAR(shares.copies_ms, 3.5, 1e-9);
  EXPECT_NEAR(shares.rest_ms, 0.49, 1e-9);
}

Diagnosis with_null_run(double null, double no_kernels) {
  Diagnosis diagnosis;
  diagnosis.observed = observed({{"decode", 5}, {"kernels", 14}, {unexplained_row, 1}});
  NullRun run;
  run.real = std::vector<double>(12, 20.0);
  run.null = std::vector<double>(12, null);
  run.no_kernels = std::vector<double>(12, no_kernels);
  run.kernels = std::vector<double>(12, 20 - no_kernels);
  diagnosis.null_run.value = run;
  return diagnosis;
}

TEST(Findings, WhatKernelsCouldGainIsMeasured) {
  Diagnosis diagnosis = with_null_run(8, 7);
  conclude(diagnosis);
  const Finding& first = diagnosis.findings.front();
  EXPECT_EQ(first.bound, Bound::kernel);
  EXPECT_TRUE(first.measured);
  EXPECT_NEAR(first.gain_ms, 12, 1e-9);
  EXPECT_NEAR(first.speedup.value, 20.0 / 8, 1e-9);
  EXPECT_THAT(first.evidence, HasSubstr("with kernels that do nothing a frame is 2.50x"));
}

TEST(Findings, LaunchesInsideOfTheStageOfTheKernels) {
  Diagnosis diagnosis = with_null_run(19, 7);
  conclude(diagnosis);
  const Finding& first = diagnosis.findings.front();
  EXPECT_EQ(first.bound, Bound::launch);
  EXPECT_TRUE(first.measured);
  EXPECT_NEAR(first.gain_ms, 12, 1e-9);
  EXPECT_THAT(first.evidence, HasSubstr("19.0 ms with kernels that do nothing and 7.00 ms"));
}

TEST(Findings, CopiesInsideOfTheStageOfTheKernels) {
  Diagnosis diagnosis = with_null_run(19.9, 19.8);
  diagnosis.observed = observed({{"decode", 2}, {"kernels", 4}, {unexplained_row, 1}});
  diagnosis.timed.value = timed_run();
  diagnosis.roofline.points = {{"to the GPU, pinned", 16 << 20, {50, 49, 51, 9}}};
  conclude(diagnosis);
  const Finding& first = diagnosis.findings.front();
  EXPECT_EQ(first.bound, Bound::copy);
  EXPECT_NEAR(first.gain_ms, 3.5, 1e-9);
  EXPECT_THAT(first.evidence, HasSubstr("upload of frame: 22.9 MiB in 3.00 ms, 8.0 GB/s (50.0"));
}

TEST(ShapeSweep, SaysWhetherTheTakenShapeIsTheBest) {
  ShapeSweep sweep{"fl_mask", {{256, 1, 0, 10.0, 32, 0, 1.0}, {128, 2, 0, 9.95, 32, 0, 1.0}}, 0};
  EXPECT_EQ(sweep.best(), 1u);
  EXPECT_TRUE(sweep.taken_is_best());
  EXPECT_THAT(shapes_text({sweep}), HasSubstr("nothing tried is faster by more than 2"));
  sweep.rows.push_back({256, 1, 3, 8.0, 24, 16, 0.75});
  EXPECT_FALSE(sweep.taken_is_best());
  std::string text = shapes_text({sweep});
  EXPECT_THAT(text, HasSubstr("256 threads x 1 with 3 blocks resident is 20.0 % faster"));
  EXPECT_EQ(shapes_json({sweep})[0]["best"], 2);
  EXPECT_TRUE(shapes_json({sweep})[0]["rows"][0]["resident_blocks"].is_null());
}

TEST(ThreadSweep, ComparesWithTheUsualNumber) {
  std::mt19937_64 engine(3);
  ThreadSweep sweep;
  sweep.usual = 4;
  sweep.rows = {{1, series_of(40, engine, 0.1)},
                {2, series_of(20, engine, 0.1)},
                {4, series_of(30, engine, 0.1)}};
  EXPECT_THAT(threads_text(sweep), HasSubstr("--threads 2 is faster: 1.50x"));
  EXPECT_EQ(threads_json(sweep)["fastest"], 2);
  sweep.rows.erase(sweep.rows.begin() + 1);
  EXPECT_THAT(threads_text(sweep), HasSubstr("no other number of threads is faster"));
}

TEST(GainSplit, AFasterClockIsAPartOfTheGain) {
  GainRun run;
  run.before = {5, 200e6};
  run.after = {1, 40e6};
  run.before_ms = std::vector<double>(12, 30.0);
  run.after_ms = std::vector<double>(12, 6.0);
  run.null_before_ms = std::vector<double>(12, 0.5);
  run.null_after_ms = std::vector<double>(12, 0.1);
  run.bytes_per_ms = 10e6;
  EXPECT_FALSE(split_gain(run)->clocks_ms);
  run.before_mhz = std::vector<double>(12, 1500.0);
  run.after_mhz = std::vector<double>(12, 2000.0);
  auto split = split_gain(run);
  EXPECT_NEAR(split->clocks_ms.value(), 7.5, 1e-12);
  EXPECT_NEAR(split->launches_ms + split->bytes_ms + *split->clocks_ms + split->unexplained_ms, 24,
              1e-12);
}

TEST(GainSplit, PartsSumToWhatWasSaved) {
  GainRun run;
  run.before = {5, 200e6};
  run.after = {1, 40e6};
  run.before_ms = std::vector<double>(12, 30.0);
  run.after_ms = std::vector<double>(12, 6.0);
  run.null_before_ms = std::vector<double>(12, 0.5);
  run.null_after_ms = std::vector<double>(12, 0.1);
  run.bytes_per_ms = 10e6;
  auto split = split_gain(run);
  ASSERT_TRUE(split);
  EXPECT_NEAR(split->launch_cost_ms.value, 0.1, 1e-12);
  EXPECT_NEAR(split->launches_ms, 0.4, 1e-12);
  EXPECT_NEAR(split->bytes_ms, 16, 1e-12);
  EXPECT_NEAR(split->unexplained_ms, 24 - 16.4, 1e-12);
  run.after.launches = 5;
  EXPECT_FALSE(split_gain(run));
}

TEST(Roofline, RatesOfAKnownClock) {
  // 10 GB/s and 1 us a copy.
  CopyPoint point =
      measure_copies("host, 1 thread", 1e6, [](int times) { return times * (1e-6 + 1e6 / 10e9); });
  EXPECT_NEAR(point.gb_per_s.value, 1e6 / 101e-6 / 1e9, 1e-9);
  Roofline roofline;
  roofline.points = {point, {"host, 1 thread", 1e3, {3, 3, 3, 9}}};
  EXPECT_EQ(rate_near(roofline, "host, 1 thread", 4e3), 3);
  EXPECT_NEAR(*rate_near(roofline, "host, 1 thread", 1e9), 9.9, 0.01);
  EXPECT_FALSE(rate_near(roofline, "to the GPU, pinned", 1e3));
}

TEST(Roofline, CopiesOfThisHost) {
  Roofline roofline = host_roofline(2, {});
  EXPECT_EQ(roofline.points.size(), 2 * copy_sizes().size());
  for (const CopyPoint& point : roofline.points) {
    EXPECT_GT(point.gb_per_s.low, 0.01) << point.path << " " << point.bytes;
    EXPECT_LT(point.gb_per_s.high, 1e5) << point.path << " " << point.bytes;
  }
}

Diagnosis full_diagnosis() {
  Diagnosis diagnosis;
  diagnosis.observed = observed({{"a stage whose name is as long as marks let a name", 5},
                                 {"h2d", 2000},
                                 {"kernels", 10},
                                 {unexplained_row, 1}});
  diagnosis.null_run.why_not = "only for `mask PICTURE`, not for other programs";
  diagnosis.gain.why_not = diagnosis.null_run.why_not;
  diagnosis.sweep.value = Sweep{points_of(5, 2, 0.1), "the picture re-encoded as PNG", "megapixel"};
  diagnosis.roofline.points = {{"host, 1 thread", 256e6, {10, 9, 11, 9}}};
  diagnosis.roofline.peaks = {{"host memory", std::nullopt, "nobody tells"},
                              {"to and from the GPU, each way", 63.0, "PCIe 5.0 x16"}};
  diagnosis.roofline.launches = {{"A device", "one, until it is done", {5, 5, 5, 9}}};
  diagnosis.environment = {{"hardware", {{"cpu", "A"}, {"processors", 4}, {"gpus", Json::array()}}},
                           {"software", {{"driver", nullptr}}},
                           {"source", {{"commit", nullptr}, {"dirty", nullptr}}},
                           {"conditions", {{"gpus", Json::array()}, {"gpu_report", "none"}}}};
  diagnosis.what_ifs = {what_if(diagnosis.observed, "kernels", 6.6)};
  conclude(diagnosis);
  return diagnosis;
}

TEST(DiagnosisReport, FitsAndSaysWhatIsMissing) {
  std::string text = diagnosis_text(full_diagnosis());
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  for (const char* part : {"copy-bound (h2d)", "not measured: only for", "what if", "end to end",
                           "copies 10.0 GB/s here"})
    EXPECT_THAT(text, HasSubstr(part));
  Json json = diagnosis_json(full_diagnosis());
  EXPECT_EQ(json["bound"], "copy-bound");
  EXPECT_THAT(json["null_kernels"]["not_measured"], HasSubstr("only for"));
  EXPECT_NEAR(json["sweep"]["fit"][0]["fixed_ms"]["value"].get<double>(), 5, 0.5);
  const Json& peaks = json["copies"]["theoretical_peaks"];
  EXPECT_TRUE(peaks[0]["gb_per_s"].is_null());
  EXPECT_EQ(peaks[1]["gb_per_s"], 63.0);
  for (const char* part : {"host memory: unknown", "63.0 GB/s (PCIe 5.0 x16)",
                           "launch      A device, one, until it is done: 5.00 us"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(DiagnosisReport, TheFixedCostIsAFinding) {
  Diagnosis diagnosis;
  diagnosis.observed = observed({{"decode", 8}, {unexplained_row, 2}});
  diagnosis.sweep.value =
      Sweep{points_of(6, 0.25, 0.01), "the picture re-encoded as PNG", "megapixel"};
  conclude(diagnosis);
  auto found = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                            [](const Finding& finding) { return finding.measured; });
  ASSERT_NE(found, diagnosis.findings.end());
  EXPECT_NEAR(found->gain_ms, 6, 0.1);
  EXPECT_THAT(found->evidence, HasSubstr("do not depend on the size"));
}

}  // namespace
}  // namespace fuseline
