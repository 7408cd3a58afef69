// The closed account under a virtual clock: exact to the nanosecond.
#include "ledger/timeline.hpp"

#include <gmock/gmock.h>

#include <map>
#include <random>

#include "fuseline/error.hpp"

namespace fuseline {
namespace {

using Rows = std::vector<std::pair<std::string, Nanoseconds>>;

Rows rows_of(const ClosedAccount& account) {
  Rows rows;
  for (const auto& row : account.rows) rows.emplace_back(row.name, row.time);
  return rows;
}

Nanoseconds sum_of(const ClosedAccount& account) {
  Nanoseconds sum = 0;
  for (const auto& row : account.rows) sum += row.time;
  return sum;
}

TEST(Timeline, StagesOfOneThreadAndTheRest) {
  const Span spans[] = {{"decode", 1, 100, 400}, {"kernels", 1, 450, 500}};
  ClosedAccount account = close_account(spans, 0, 1000);
  EXPECT_EQ(account.wall, 1000);
  EXPECT_EQ(rows_of(account), (Rows{{"decode", 300}, {"kernels", 50}, {"unexplained", 650}}));
}

TEST(Timeline, TheInnermostStageHasTheTime) {
  const Span spans[] = {
      {"frame", 1, 0, 100}, {"decode", 1, 10, 60}, {"idct", 1, 20, 30}, {"decode", 1, 80, 90}};
  ClosedAccount account = close_account(spans, 0, 100);
  EXPECT_EQ(rows_of(account),
            (Rows{{"frame", 40}, {"decode", 50}, {"idct", 10}, {"unexplained", 0}}));
  ASSERT_EQ(account.busy.size(), 3u);
  EXPECT_EQ(account.busy[0].time, 100);
  EXPECT_EQ(account.busy[1].time, 60);
  EXPECT_EQ(account.busy[1].spans, 2);
}

TEST(Timeline, SeveralThreadsOverlap) {
  const Span spans[] = {{"encode", 1, 0, 60}, {"decode", 2, 40, 100}, {"decode", 3, 80, 90}};
  ClosedAccount account = close_account(spans, 0, 100);
  EXPECT_EQ(
      rows_of(account),
      (Rows{{"encode", 40}, {"decode", 40}, {"overlap{decode+encode}", 20}, {"unexplained", 0}}));
  // Two threads in one stage are busy twice.
  EXPECT_EQ(account.busy[1].time, 70);
}

TEST(Timeline, AWaitIsSyncOnlyWhereNothingElseWorks) {
  // The host waits from 100 to 300, the device works from 120 to 250.
  const Span spans[] = {
      {"launch", 1, 50, 100}, {"device", 1, 100, 300, true}, {"kernels", 2, 120, 250}};
  EXPECT_EQ(rows_of(close_account(spans, 0, 320)),
            (Rows{{"launch", 50}, {"kernels", 130}, {"sync", 70}, {"unexplained", 70}}));
}

TEST(Timeline, AWaitInsideOfAStageIsNotThatStage) {
  const Span spans[] = {{"upload", 1, 0, 100}, {"event", 1, 30, 90, true}};
  EXPECT_EQ(rows_of(close_account(spans, 0, 100)),
            (Rows{{"upload", 40}, {"sync", 60}, {"unexplained", 0}}));
}

TEST(Timeline, NoMarkedWaitsNoSyncRow) {
  EXPECT_EQ(rows_of(close_account({}, 5, 25)), (Rows{{"unexplained", 20}}));
  const Span spans[] = {{"event", 1, 0, 0, true}};
  EXPECT_EQ(rows_of(close_account(spans, 0, 10)), (Rows{{"unexplained", 10}}));
}

TEST(Timeline, SpansAreClippedToTheWindow) {
  const Span spans[] = {{"a", 1, -50, 20}, {"b", 1, 90, 500}, {"c", 1, 200, 300}};
  ClosedAccount account = close_account(spans, 10, 100);
  EXPECT_EQ(rows_of(account), (Rows{{"a", 10}, {"b", 10}, {"unexplained", 70}}));
  EXPECT_EQ(account.busy.size(), 2u);
}

TEST(Timeline, TouchingSpansDoNotOverlap) {
  const Span spans[] = {{"a", 1, 0, 50}, {"b", 2, 50, 100}};
  EXPECT_EQ(rows_of(close_account(spans, 0, 100)),
            (Rows{{"a", 50}, {"b", 50}, {"unexplained", 0}}));
}

TEST(Timeline, RecursionIsBusyOnce) {
  const Span spans[] = {{"a", 1, 0, 100}, {"a", 1, 20, 60}};
  ClosedAccount account = close_account(spans, 0, 100);
  EXPECT_EQ(account.busy[0].time, 100);
  EXPECT_EQ(account.busy[0].spans, 2);
}

TEST(Timeline, SpansThatDoNotNestStillClose) {
  const Span spans[] = {{"a", 1, 0, 60}, {"b", 1, 30, 100}};
  EXPECT_EQ(rows_of(close_account(spans, 0, 100)),
            (Rows{{"a", 30}, {"b", 70}, {"unexplained", 0}}));
}

// The rule once more, instant by instant.
std::map<std::string, Nanoseconds> by_instants(const std::vector<Span>& spans, Nanoseconds wall) {
  std::map<std::string, Nanoseconds> rows;
  for (Nanoseconds t = 0; t < wall; ++t) {
    std::map<std::int64_t, const Span*> doing;
    for (const Span& span : spans) {
      if (t < span.begin || t >= span.end) continue;
      const Span*& last = doing[span.lane];
      if (!last || span.begin > last->begin || (span.begin == last->begin && span.end <= last->end))
        last = &span;
    }
    std::map<std::string, int> active;
    bool waits = false;
    for (const auto& [lane, span] : doing) {
      waits |= span->wait;
      if (!span->wait) ++active[span->stage];
    }
    std::string row = waits ? "sync" : "unexplained";
    if (!active.empty()) {
      row.clear();
      for (const auto& [name, count] : active) row += (row.empty() ? "" : "+") + name;
      if (active.size() > 1) row = "overlap{" + row + "}";
    }
    ++rows[row];
  }
  return rows;
}

TEST(Timeline, RandomSpansFollowTheRuleAndCloseExactly) {
  std::mt19937 engine(11);
  auto draw = [&](int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); };
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Span> spans;
    for (int i = draw(14); i > 0; --i) {
      Nanoseconds begin = draw(140) - 20;
      spans.push_back({std::string(1, static_cast<char>('a' + draw(4))), draw(3), begin,
                       begin + draw(60), draw(4) == 0});
    }
    constexpr Nanoseconds wall = 100;
    ClosedAccount account = close_account(spans, 0, wall);
    EXPECT_EQ(sum_of(account), wall);
    auto expected = by_instants(spans, wall);
    for (const auto& row : account.rows) {
      auto found = expected.find(row.name);
      EXPECT_EQ(row.time, found == expected.end() ? 0 : found->second) << row.name;
      if (found != expected.end()) expected.erase(found);
    }
    EXPECT_TRUE(expected.empty()) << expected.begin()->first;
  }
}

TEST(Timeline, TheMedianFrameStandsForAll) {
  const Span spans[] = {{"frame", 1, 0, 100},    {"decode", 1, 0, 90},   {"frame", 1, 100, 130},
                        {"decode", 1, 105, 115}, {"frame", 1, 130, 150}, {"decode", 2, 120, 500}};
  ClosedAccount account = account_of_median(spans, "frame");
  EXPECT_EQ(account.wall, 30);
  EXPECT_EQ(rows_of(account), (Rows{{"decode", 20}, {"unexplained", 10}}));
  EXPECT_THROW(account_of_median(spans, "frames"), Error);
}

TEST(Timeline, RefusesTimeThatRunsBackwards) {
  EXPECT_THROW(close_account({}, 10, 5), InternalError);
  const Span spans[] = {{"a", 1, 5, 4}};
  EXPECT_THROW(close_account(spans, 0, 10), InternalError);
}

}  // namespace
}  // namespace fuseline
