// Reports, outlooks and comparisons on streams whose truth is known.
#include "ledger/report.hpp"

#include <gmock/gmock.h>

#include <regex>
#include <sstream>

#include "fuseline/error.hpp"
#include "ledger/comparison.hpp"
#include "ledger/outlook.hpp"
#include "ledger/stream.hpp"

namespace fuseline::test {
namespace {

using testing::HasSubstr;
using testing::Not;

RunRecord one_sided(double ms, std::uint64_t seed, std::size_t runs = 40) {
  auto machine = std::make_shared<NoisyMachine>(seed);
  RunRecord record = record_of({});
  record.sides.resize(1);
  record.sides[0].label = "run";
  record.sides[0].series =
      measure_series(stream(machine, ms), {.seconds = 60, .least_runs = runs, .most_runs = runs});
  return record;
}

void expect_fits(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Report, TwoSides) {
  RunRecord record = measured(12, 10, 1);
  record.settings.items = 1000;
  record.settings.target_ms = 11;
  std::string text = report_text(record);
  expect_fits(text);
  for (const char* part : {"FASTER: end to end 1.2", "; kernels 1.2", "ceiling", "bound by",
                           "unexplained", "saved", "1000 items", "target 11.0 ms", "noise floor",
                           "first ten", "before: --old", "after:  --new x"})
    EXPECT_THAT(text, HasSubstr(part));
  Json json = report_json(record);
  EXPECT_EQ(json["verdict"], "FASTER");
  EXPECT_EQ(json["account"]["stages"].size(), 3u);
  EXPECT_TRUE(json["sides"][0]["wall"]["p99"].is_null() ||
              json["sides"][0]["wall"]["n"].get<int>() >= 1000);
  double saved = 0;
  for (const Json& row : json["account"]["stages"]) saved += row["saved"].get<double>();
  EXPECT_NEAR(saved, json["account"]["end_to_end"]["saved"].get<double>(), 1e-9);
}

TEST(Report, OneSideSaysWhatWasNotMeasured) {
  RunRecord record = one_sided(10, 2);
  std::string text = report_text(record);
  expect_fits(text);
  for (const char* part : {"decode", "end to end", "p99 not told below 1000 runs", "cold run",
                           "noise floor not measured", "busy"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_TRUE(report_json(record)["verdict"].is_null());
  EXPECT_FALSE(verdict_of(record));
}

TEST(Report, LongNamesOfStagesDoNotBreakTheTable) {
  RunRecord record = measured(12, 10, 1);
  std::string name = "overlap{a stage with a rather long name+another one with a long name+x+y+z}";
  for (RunSide& side : record.sides) side.series.row_names[0] = name;
  std::string text = report_text(record);
  expect_fits(text);
  EXPECT_THAT(text, HasSubstr("overlap{a stage with"));
}

TEST(Report, PageIsSelfContainedAndEscaped) {
  RunRecord record = measured(12, 10, 1);
  record.sides[1].command = {"./a", "<script>alert(1)</script>", "&"};
  record.warnings = {"</script><b>bold</b>"};
  std::string page = report_html(record, {record, record});
  EXPECT_THAT(page, testing::StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<b>bold")));
  for (const char* outside : {"http://", "https://", "src=", "@import", "url("})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  for (const char* part : {"Account", "Speed-ups", "end to end", "ceiling by arithmetic",
                           "not measured", "History, 2 runs", "What this rests on", "FASTER"})
    EXPECT_THAT(page, HasSubstr(part));
  std::smatch data;
  const std::regex embedded("<script id=\"data\" type=\"application/json\">([^<]*)</script>");
  ASSERT_TRUE(std::regex_search(page, data, embedded));
  EXPECT_EQ(Json::parse(data[1].str())["verdict"], "FASTER");
  EXPECT_THAT(report_html(one_sided(10, 2), {}), HasSubstr("Times of all runs"));
}

TEST(Outlook, DeadlineNamesTheNextStageAndItsCeiling) {
  RunRecord record = one_sided(10, 3);
  record.settings.target_ms = 5;
  Deadline deadline = deadline_of(record).value();
  EXPECT_FALSE(deadline.met);
  EXPECT_EQ(deadline.share_within, 0);
  EXPECT_EQ(deadline.next_stage, "decode");
  EXPECT_NEAR(deadline.ceiling_ms, 4, 0.3);
  record.settings.target_ms = 100;
  EXPECT_TRUE(deadline_of(record)->met);
  record.settings.target_ms = 0;
  EXPECT_FALSE(deadline_of(record));
}

TEST(Outlook, BreakEvenByHand) {
  RunRecord record = record_of({});
  record.settings.items = 100;
  record.sides[0].series.warm_up = {12, 10};
  record.sides[0].series.wall = {10, 10, 10};
  record.sides[1].series.warm_up = {34, 8};
  record.sides[1].series.wall = {8, 8, 8};
  // 24 ms more for the start, 2 ms less an item: even at 12, ahead from the 13th.
  Projection projection = projection_of(record).value();
  EXPECT_EQ(projection.extra_cold_ms, 24);
  EXPECT_EQ(projection.saving_per_item_ms, 2);
  EXPECT_EQ(projection.break_even, 13);
  EXPECT_EQ(projection.total_ms, (std::vector<double>{1002, 826}));
  std::swap(record.sides[0].series, record.sides[1].series);
  EXPECT_EQ(projection_of(record)->saving_per_item_ms, -2);
  record.sides[0].series = record.sides[1].series;
  record.sides[1].series.warm_up = {99};
  EXPECT_FALSE(projection_of(record)->break_even);
}

TEST(Comparison, FindsWhatChangedAndWhatDidNot) {
  Comparison faster = compare_records(one_sided(12, 4), one_sided(10, 5), 0.02, false);
  EXPECT_EQ(faster.total.verdict, Verdict::faster);
  EXPECT_NEAR(faster.total.speedup->value, 1.2, 0.05);
  Comparison slower = compare_records(one_sided(10, 5), one_sided(12, 4), 0.02, false);
  EXPECT_EQ(slower.total.verdict, Verdict::slower);
  expect_fits(comparison_text(faster));
  EXPECT_EQ(comparison_json(faster)["verdict"], "FASTER");
  EXPECT_EQ(comparison_json(faster)["stages"].size(), 3u);
}

TEST(Comparison, FewRunsSayNothing) {
  Comparison few = compare_records(one_sided(20, 4, 8), one_sided(10, 5, 8), 0.02, false);
  EXPECT_EQ(few.total.verdict, Verdict::inconclusive);
  EXPECT_THAT(comparison_text(few), HasSubstr("below 9 a side nothing can be said"));
}

TEST(Comparison, OtherHardwareIsRefusedUnlessForced) {
  RunRecord a = one_sided(12, 4), b = one_sided(10, 5);
  b.environment["hardware"]["cpu"] = "B";
  EXPECT_THROW(compare_records(a, b, 0.02, false), Error);
  Comparison forced = compare_records(a, b, 0.02, true);
  EXPECT_THAT(comparison_text(forced), HasSubstr("forced: different hardware, cpu: A against B"));
}

TEST(Comparison, TellsWhatElseChanged) {
  RunRecord a = one_sided(12, 4), b = one_sided(10, 5);
  b.environment["software"]["driver"] = "580";
  b.environment["source"]["commit"] = "abc";
  std::string text = comparison_text(compare_records(a, b, 0.02, false));
  EXPECT_THAT(text, HasSubstr("driver: not measured -> 580"));
  EXPECT_THAT(text, HasSubstr("commit: not measured -> abc"));
}

TEST(Record, CommandsAreShownAsAShellTakesThem) {
  EXPECT_EQ(command_text({"./a", "--x=1", "b c", "it's", ""}), "./a --x=1 'b c' 'it'\\''s' ''");
}

}  // namespace
}  // namespace fuseline::test
