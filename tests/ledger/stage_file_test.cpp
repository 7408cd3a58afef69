// Marks written through stage.h and through the Python module arrive as spans.
#include "ledger/stage_file.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "fuseline/stage.h"

namespace fuseline {
namespace {

// The header looks for its file once, so all tests of this process share one.
StageFile& shared_file() {
  static StageFile file;
  static bool told = [] { return ::setenv("FUSELINE_STAGES", file.path().c_str(), 1) == 0; }();
  EXPECT_TRUE(told);
  return file;
}

const Span* find(const StageMarks& marks, const std::string& stage) {
  auto found = std::find_if(marks.spans.begin(), marks.spans.end(),
                            [&](const Span& span) { return span.stage == stage; });
  return found == marks.spans.end() ? nullptr : &*found;
}

TEST(StageFile, MarksBecomeSpans) {
  StageFile& file = shared_file();
  file.reset();
  Nanoseconds before = monotonic_now();
  fuseline_stage_begin("outer");
  {
    StageMark inner("inner");
    WaitMark wait("device");
  }
  fuseline_stage_end("outer");
  Nanoseconds after = monotonic_now();
  StageMarks marks = file.read(after);
  ASSERT_EQ(marks.spans.size(), 3u);
  EXPECT_EQ(marks.dropped + marks.unmatched + marks.open, 0u);
  const Span *outer = find(marks, "outer"), *inner = find(marks, "inner"),
             *wait = find(marks, "device");
  ASSERT_TRUE(outer && inner && wait);
  EXPECT_TRUE(wait->wait);
  EXPECT_FALSE(inner->wait);
  EXPECT_EQ(outer->lane, inner->lane);
  EXPECT_LE(before, outer->begin);
  EXPECT_LE(outer->begin, inner->begin);
  EXPECT_LE(inner->begin, wait->begin);
  EXPECT_LE(wait->end, inner->end);
  EXPECT_LE(inner->end, outer->end);
  EXPECT_LE(outer->end, after);
}

TEST(StageFile, ThreadsHaveLanesOfTheirOwn) {
  StageFile& file = shared_file();
  file.reset();
  constexpr int threads = 4, rounds = 500;
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([] {
      for (int i = 0; i < rounds; ++i) StageMark mark("work");
    });
  for (std::thread& thread : team) thread.join();
  StageMarks marks = file.read(monotonic_now());
  EXPECT_EQ(marks.spans.size(), std::size_t{threads} * rounds);
  EXPECT_EQ(marks.unmatched, 0u);
  std::vector<std::int64_t> lanes;
  for (const Span& span : marks.spans) lanes.push_back(span.lane);
  std::sort(lanes.begin(), lanes.end());
  EXPECT_EQ(std::unique(lanes.begin(), lanes.end()) - lanes.begin(), threads);
}

TEST(StageFile, AForkedChildIsAnotherLane) {
  StageFile& file = shared_file();
  file.reset();
  { StageMark mark("parent"); }
  pid_t child = ::fork();
  if (child == 0) {
    { StageMark mark("child"); }
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  StageMarks marks = file.read(monotonic_now());
  const Span *one = find(marks, "parent"), *other = find(marks, "child");
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->lane >> 32, ::getpid());
  EXPECT_EQ(other->lane >> 32, child);
  EXPECT_EQ(other->lane & 0xffffffff, child);
}

TEST(StageFile, OpenAndUnmatchedMarksAreCounted) {
  StageFile& file = shared_file();
  file.reset();
  fuseline_stage_begin("open");
  fuseline_stage_end("never begun");
  Nanoseconds end = monotonic_now() + 1000;
  StageMarks marks = file.read(end);
  EXPECT_EQ(marks.unmatched, 1u);
  EXPECT_EQ(marks.open, 1u);
  ASSERT_EQ(marks.spans.size(), 1u);
  EXPECT_EQ(marks.spans[0].end, end);
}

TEST(StageFile, LongNamesAreCutAndNothingIsLeftBehind) {
  StageFile& file = shared_file();
  file.reset();
  { StageMark mark("a name that is much longer than the forty-six bytes of a mark"); }
  StageMarks marks = file.read(monotonic_now());
  ASSERT_EQ(marks.spans.size(), 1u);
  EXPECT_EQ(marks.spans[0].stage, "a name that is much longer than the forty-six ");
  file.reset();
  EXPECT_TRUE(file.read(monotonic_now()).spans.empty());
}

TEST(StageFile, MarksBeyondTheCapacityAreCountedAsDropped) {
  StageFile& file = shared_file();
  file.reset();
  for (int i = 0; i < FUSELINE_STAGE_CAPACITY / 2 + 5; ++i) StageMark mark("many");
  StageMarks marks = file.read(monotonic_now());
  EXPECT_EQ(marks.dropped, 10u);
  EXPECT_EQ(marks.spans.size(), std::size_t{FUSELINE_STAGE_CAPACITY} / 2);
  file.reset();
}

TEST(StageFile, DamagedFilesBesideItAreIgnored) {
  StageFile& file = shared_file();
  file.reset();
  std::ofstream(file.path().string() + ".1") << "short";
  std::ofstream(file.path().string() + ".2") << std::string(500, 'x');
  EXPECT_TRUE(file.read(monotonic_now()).spans.empty());
  file.reset();
}

// A mark costs below 1 us even on a busy machine: 250 us frames with a stage stay within 1 %.
TEST(StageFile, MarksAreCheap) {
  StageFile& file = shared_file();
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    file.reset();
    constexpr int marks = 2000;
    Nanoseconds begin = monotonic_now();
    for (int i = 0; i < marks; ++i) StageMark mark("cheap");
    best = std::min(best, static_cast<double>(monotonic_now() - begin) / marks);
  }
  EXPECT_LT(best, 1000) << "ns for a begin and an end";
}

TEST(StageFile, ThePythonModuleWritesTheSame) {
  StageFile& file = shared_file();
  file.reset();
  std::string command = "cd \"" FUSELINE_SOURCE_DIR
                        "/python\" && python3 -B -c '\n"
                        "import os, threading, time\n"
                        "from fuseline_stage import stage, wait\n"
                        "with stage(\"decode\"):\n"
                        "  time.sleep(0.02)\n"
                        "  with wait(\"device\"): time.sleep(0.01)\n"
                        "def work():\n"
                        "  with stage(\"encode\"): time.sleep(0.01)\n"
                        "thread = threading.Thread(target=work); thread.start(); thread.join()\n"
                        "if os.fork() == 0:\n"
                        "  with stage(\"child\"): pass\n"
                        "  os._exit(0)\n"
                        "os.wait()\n'";
  if (std::system("python3 -c pass") != 0) GTEST_SKIP() << "there is no python3";
  ASSERT_EQ(std::system(command.c_str()), 0);
  StageMarks marks = file.read(monotonic_now());
  const Span *decode = find(marks, "decode"), *wait = find(marks, "device"),
             *encode = find(marks, "encode"), *child = find(marks, "child");
  ASSERT_TRUE(decode && wait && encode && child);
  EXPECT_GE(decode->end - decode->begin, 30'000'000);
  EXPECT_TRUE(wait->wait);
  EXPECT_EQ(decode->lane, wait->lane);
  EXPECT_NE(decode->lane, encode->lane);
  EXPECT_EQ(decode->lane >> 32, encode->lane >> 32);
  EXPECT_NE(decode->lane >> 32, child->lane >> 32);
  file.reset();
}

}  // namespace
}  // namespace fuseline
