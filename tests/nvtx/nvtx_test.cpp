// Ranges of a client of NVTX arrive as stages; our own ranges arrive at a tool.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "fuseline/error.hpp"
#include "fuseline/stage.h"
#include "ledger/stage_file.hpp"
#include "nvtx/client.hpp"
#include "nvtx/reader.hpp"

namespace fuseline::nvtx {
namespace {

using testing::HasSubstr;

// The tool looks for its file once, so all tests of this process share one.
StageFile& shared_file() {
  static StageFile file;
  static bool told = [] { return ::setenv("FUSELINE_STAGES", file.path().c_str(), 1) == 0; }();
  EXPECT_TRUE(told);
  file.reset();
  return file;
}

// A client as a program with NVIDIA's header is one.
const Client& client() {
  static const Client one(reader_library().c_str());
  return one;
}

const Span* find(const StageMarks& marks, const std::string& stage) {
  auto found = std::find_if(marks.spans.begin(), marks.spans.end(),
                            [&](const Span& span) { return span.stage == stage; });
  return found == marks.spans.end() ? nullptr : &*found;
}

Attributes message(std::int32_t type, const void* text) {
  Attributes attributes = {};
  attributes.version = version;
  attributes.size = sizeof(Attributes);
  attributes.message_type = type;
  attributes.message = text;
  return attributes;
}

TEST(NvtxReader, PushesAndPopsNest) {
  StageFile& file = shared_file();
  EXPECT_EQ(client().at<RangePushA>(core, range_push_a)("outer"), 0);
  Attributes inner = message(message_ascii, "inner");
  EXPECT_EQ(client().at<RangePushEx>(core, range_push_ex)(&inner), 1);
  EXPECT_EQ(client().at<RangePushW>(core, range_push_w)(L"gr\u00fcn \u2713 \U0001F600"), 2);
  auto* pop = client().at<RangePop>(core, range_pop);
  for (int level : {2, 1, 0}) EXPECT_EQ(pop(), level);
  EXPECT_EQ(pop(), no_tracking);
  StageMarks marks = file.read(monotonic_now());
  EXPECT_EQ(marks.ranges, 3u);
  EXPECT_TRUE(marks.ranges_are_stages);
  EXPECT_EQ(marks.unmatched + marks.open + marks.dropped, 0u);
  const Span *one = find(marks, "outer"), *two = find(marks, "inner"),
             *three = find(marks, "gr\u00fcn \u2713 \U0001F600");
  ASSERT_TRUE(one && two && three);
  EXPECT_LE(one->begin, two->begin);
  EXPECT_LE(two->begin, three->begin);
  EXPECT_LE(three->end, two->end);
  EXPECT_LE(two->end, one->end);
  EXPECT_EQ(one->lane, two->lane);
}

TEST(NvtxReader, DomainsAndRegisteredStringsNameRanges) {
  StageFile& file = shared_file();
  Handle codec = client().at<DomainCreateA>(core2, domain_create_a)("codec");
  EXPECT_EQ(client().at<DomainCreateW>(core2, domain_create_w)(L"codec"), codec);
  Handle name = client().at<RegisterStringA>(core2, domain_register_string_a)(codec, "encode");
  Attributes registered = message(message_registered, name),
             nameless = message(message_unknown, "");
  auto* push = client().at<DomainRangePushEx>(core2, domain_range_push_ex);
  auto* pop = client().at<DomainRangePop>(core2, domain_range_pop);
  EXPECT_EQ(push(codec, &registered), 0);
  client().at<RangePushA>(core, range_push_a)("between");
  EXPECT_EQ(push(codec, &nameless), 1);
  // Each domain has a stack of its own.
  EXPECT_EQ(pop(codec), 1);
  EXPECT_EQ(pop(codec), 0);
  EXPECT_EQ(pop(codec), no_tracking);
  EXPECT_EQ(client().at<RangePop>(core, range_pop)(), 0);
  StageMarks marks = file.read(monotonic_now());
  EXPECT_TRUE(find(marks, "codec:encode") && find(marks, "codec:unnamed") &&
              find(marks, "between"));
  EXPECT_EQ(marks.unmatched + marks.open, 0u);
}

TEST(NvtxReader, AStartedRangeMayEndOnAnotherThread) {
  StageFile& file = shared_file();
  auto* start = client().at<RangeStartA>(core, range_start_a);
  auto* end = client().at<RangeEnd>(core, range_end);
  RangeId first = start("first"), second = start("second");
  EXPECT_NE(first, second);
  std::thread([&] { end(first); }).join();
  end(second);
  end(second);  // nothing is left to end
  StageMarks marks = file.read(monotonic_now());
  const Span *one = find(marks, "first"), *two = find(marks, "second");
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->lane, two->lane);
  EXPECT_LE(one->end, two->end);
  EXPECT_EQ(marks.unmatched + marks.open, 0u);
}

TEST(NvtxReader, ThreadsHaveStacksOfTheirOwn) {
  StageFile& file = shared_file();
  constexpr int threads = 4, rounds = 300;
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([] {
      for (int i = 0; i < rounds; ++i) {
        client().at<RangePushA>(core, range_push_a)("work");
        client().at<RangePop>(core, range_pop)();
      }
    });
  for (std::thread& thread : team) thread.join();
  StageMarks marks = file.read(monotonic_now());
  EXPECT_EQ(marks.spans.size(), std::size_t{threads} * rounds);
  EXPECT_EQ(marks.unmatched + marks.open, 0u);
}

TEST(NvtxReader, DeepStacksAndLongNamesAreKept) {
  StageFile& file = shared_file();
  constexpr int depth = 200;
  for (int i = 0; i < depth; ++i)
    client().at<RangePushA>(core, range_push_a)(std::string(60, 'n').c_str());
  for (int i = depth; i-- > 0;) EXPECT_EQ(client().at<RangePop>(core, range_pop)(), i);
  StageMarks marks = file.read(monotonic_now());
  EXPECT_EQ(marks.spans.size(), std::size_t{depth});
  EXPECT_EQ(marks.spans.front().stage, std::string(FUSELINE_STAGE_NAME, 'n'));
}

TEST(NvtxReader, MarkedStagesWin) {
  StageFile& file = shared_file();
  client().at<RangePushA>(core, range_push_a)("range");
  { StageMark mark("stage"); }
  client().at<RangePop>(core, range_pop)();
  StageMarks marks = file.read(monotonic_now());
  EXPECT_EQ(marks.ranges, 1u);
  EXPECT_FALSE(marks.ranges_are_stages);
  ASSERT_EQ(marks.spans.size(), 1u);
  EXPECT_EQ(marks.spans[0].stage, "stage");
}

TEST(NvtxClient, OurRangesArriveAtATool) {
  StageFile& file = shared_file();
  ASSERT_EQ(::setenv("NVTX_INJECTION64_PATH", reader_library().c_str(), 1), 0);
  ASSERT_TRUE(attached());
  {
    Range outer("frame");
    Range inner("kernels");
  }
  StageMarks marks = file.read(monotonic_now());
  const Span *frame = find(marks, "Fuseline:frame"), *kernels = find(marks, "Fuseline:kernels");
  ASSERT_TRUE(frame && kernels);
  EXPECT_LE(frame->begin, kernels->begin);
  EXPECT_LE(kernels->end, frame->end);
}

std::string refusal(const std::string& library) {
  try {
    Client tool(library.c_str());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(NvtxClient, LibrariesThatAreNoToolAreRefused) {
  EXPECT_THAT(refusal("no/such/library.so"), HasSubstr("cannot be loaded"));
  EXPECT_THAT(refusal("libm.so.6"), HasSubstr("no tool for NVTX"));
}

// In a process of its own: nothing may have asked for the file before.
TEST(NvtxClientDeathTest, WithoutABenchTheReaderDeclines) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::unsetenv("FUSELINE_STAGES");
        std::fprintf(stderr, "%s", refusal(reader_library()).c_str());
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "declines");
}

TEST(NvtxClientDeathTest, WithoutAToolARangeCostsNextToNothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::unsetenv("NVTX_INJECTION64_PATH");
        double best = 1e9;
        for (int round = 0; round < 20; ++round) {
          constexpr int ranges = 5000;
          Nanoseconds begin = monotonic_now();
          for (int i = 0; i < ranges; ++i) Range range("nothing");
          best = std::min(best, static_cast<double>(monotonic_now() - begin) / ranges);
        }
        std::fprintf(stderr, "%.1f ns", best);
        std::_Exit(best < 100 ? 0 : 1);
      },
      testing::ExitedWithCode(0), " ns");
}

}  // namespace
}  // namespace fuseline::nvtx
