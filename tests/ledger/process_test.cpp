// Running programs: times, output, failures, time limits.
#include "ledger/process.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "fuseline/error.hpp"

namespace fuseline {
namespace {

using testing::HasSubstr;

ProcessRun shell(const std::string& text, ProcessOptions options = {}) {
  return run_process({"sh", "-c", text}, options);
}

std::string error_of(const std::vector<std::string>& words, ProcessOptions options = {}) {
  try {
    run_process(words, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Process, TimeOutputAndUse) {
  ProcessRun run = shell("sleep 0.05; echo text",
                         {.timeout_seconds = 0, .keep_output = true, .interrupted = {}});
  EXPECT_GE(run.end - run.begin, 50'000'000);
  EXPECT_EQ(run.output, "text\n");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_GT(run.peak_bytes, 100'000);
  EXPECT_EQ(run.output_hash, shell("echo text").output_hash);
  EXPECT_NE(run.output_hash, shell("echo other").output_hash);
}

TEST(Process, ProcessorTimeIsCounted) {
  ProcessRun run = shell("i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done");
  EXPECT_GT(run.user_seconds, 0.001);
}

TEST(Process, FailuresAreTold) {
  ProcessRun run = shell("echo one >&2; echo the reason >&2; exit 7");
  EXPECT_EQ(run.exit_code, 7);
  EXPECT_EQ(run.last_error_line, "the reason");
  EXPECT_EQ(shell("kill -9 $$").exit_code, 128 + 9);
  EXPECT_THAT(error_of({"./no-such-program"}), HasSubstr("./no-such-program: cannot be started"));
}

TEST(Process, NothingComesFromStdin) {
  EXPECT_EQ(shell("cat", {.timeout_seconds = 5, .keep_output = true, .interrupted = {}}).output,
            "");
}

TEST(Process, AHangIsEndedWithWhatItStarted) {
  auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(error_of({"sh", "-c", "sleep 30 & sleep 30"},
                       {.timeout_seconds = 0.2, .keep_output = false, .interrupted = {}}),
              HasSubstr("still running after 0.2 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(Process, AnInterruptEndsIt) {
  try {
    shell("sleep 30",
          {.timeout_seconds = 0, .keep_output = false, .interrupted = [] { return true; }});
    FAIL() << "it ran to its end";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
}

TEST(Process, OutputOf) {
  EXPECT_EQ(output_of({"echo", "a b"}), "a b\n");
  EXPECT_FALSE(output_of({"false"}));
  EXPECT_FALSE(output_of({"./no-such-program"}));
}

}  // namespace
}  // namespace fuseline
