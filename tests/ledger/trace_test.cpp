// The trace of a typical run: what is kept, and what Chrome reads.
#include "ledger/trace.hpp"

#include <gmock/gmock.h>

#include "fuseline/error.hpp"
#include "ledger/stream.hpp"

namespace fuseline {
namespace {

RunSample sample_of(Nanoseconds wall, Nanoseconds begin) {
  RunSample sample;
  sample.begin = begin;
  sample.account = {wall, {{"decode", wall / 2}, {unexplained_row, wall - wall / 2}}, {}};
  std::int64_t lane = std::int64_t{77} << 32 | 78;
  sample.spans = {{"decode", lane, begin + 10, begin + 10 + wall / 2, false},
                  {"device", lane + 1, begin + 20, begin + 30, true}};
  return sample;
}

RunRecord record_of(std::vector<Nanoseconds> walls) {
  RunRecord record;
  record.created = "2026-01-31T12:00:00Z";
  record.environment = Json::object();
  RunSide side{"run", "", {"./frame", "a b"}, {}};
  side.series.warm_up = {9e-3, 1e-3, 1e-3};  // ms; their median is the typical run
  Nanoseconds begin = 5000;
  for (Nanoseconds wall : walls) side.series.add(sample_of(wall, begin += 1'000'000));
  record.sides = {std::move(side)};
  return record;
}

TEST(Trace, TheRunClosestToTheMedianIsKept) {
  RunRecord record = record_of({4000, 900, 1010, 990'000});
  const RunTrace& trace = record.sides[0].series.trace;
  EXPECT_EQ(trace.wall, 1010);
  ASSERT_EQ(trace.spans.size(), 2u);
  EXPECT_EQ(trace.spans[0].begin, 10);  // from the begin of the run
  EXPECT_EQ(trace.spans[0].end, 10 + 505);
}

TEST(Trace, ItSurvivesTheLedger) {
  RunRecord record = record_of({1000});
  RunRecord back = record_from_meta(Json::parse(json_text(meta_json(record))));
  EXPECT_EQ(trace_json(back.sides[0].series.trace), trace_json(record.sides[0].series.trace));
  // Of an entry that has none.
  Json old = meta_json(record);
  old["sides"][0].erase("trace");
  EXPECT_THROW(chrome_trace(record_from_meta(old)), Error);
}

TEST(Trace, TheLongestSpansStayWhereThereAreTooMany) {
  std::vector<Span> spans;
  for (std::size_t i = 0; i < most_trace_spans + 50; ++i)
    spans.push_back({"s", 1, static_cast<Nanoseconds>(i), static_cast<Nanoseconds>(2 * i), false});
  RunTrace trace = trace_of(spans, 0, 100'000);
  EXPECT_EQ(trace.spans.size(), most_trace_spans);
  EXPECT_EQ(trace.left_out, 50);
  RunRecord record = record_of({1000});
  record.sides[0].series.trace = trace;
  EXPECT_EQ(chrome_trace(record)["otherData"]["spans left out"], 50);
  EXPECT_EQ(trace.spans.front().begin, 50);
}

TEST(Trace, ChromeGetsProcessesThreadsAndMicroseconds) {
  Json trace = chrome_trace(record_of({2000}));
  std::map<std::string, Json> spans, names;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") spans[event["name"]] = event;
    if (event["ph"] == "M") names[event["args"]["name"]] = event;
  }
  EXPECT_TRUE(names.contains("run: ./frame 'a b'"));
  EXPECT_TRUE(names.contains("thread 78"));
  EXPECT_DOUBLE_EQ(spans["run"]["dur"], 2.0);
  EXPECT_DOUBLE_EQ(spans["decode"]["ts"], 0.01);
  EXPECT_DOUBLE_EQ(spans["decode"]["dur"], 1.0);
  EXPECT_EQ(spans["device"]["cat"], "wait");
  EXPECT_EQ(spans["decode"]["pid"], spans["device"]["pid"]);
  EXPECT_NE(spans["decode"]["tid"], spans["device"]["tid"]);
}

}  // namespace
}  // namespace fuseline
