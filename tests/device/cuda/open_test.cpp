// Opening the CUDA device: every driver call on the way may fail.
#include <gmock/gmock.h>

#include "device/cuda/support.hpp"
#include "fuseline/error.hpp"
#include "program/device_registry.hpp"
#include "support/child_process.hpp"

namespace fuseline::test {
namespace {

using Open = CudaTest;

TEST_F(Open, TheStandInKnowsEveryCallOfTheTable) { EXPECT_STREQ(standin().unknown_calls(), ""); }

TEST_F(Open, OpeningTakesNoContextFromTheCaller) {
  std::string before = open_handles();
  open_device("cuda");
  EXPECT_EQ(open_handles(), before);
}

enum Outcome { opened = 0, failed_clearly = 10, opened_nevertheless = 11, wrong_error = 12 };

std::string message_of_open() {
  try {
    open_device("cuda");
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    return error.what();
  }
}

// A failure is kept for the life of a process, so each call that fails has one of its own.
TEST(OpenChild, DISABLED_OpensWithAFailure) {
  if (!child_argument()) GTEST_SKIP() << "the child of another test";
  standin().fail_at(nullptr, std::atoi(child_argument()), 999, false);
  std::string message = message_of_open();
  bool failed = standin().failed() > 0;
  bool clear = !HasFailure() && message.find('\n') == message.npos;
  if (!message.empty()) clear = clear && failed && message_of_open() == message;
  std::exit(!clear            ? wrong_error
            : !failed         ? opened
            : message.empty() ? opened_nevertheless
                              : failed_clearly);
}

TEST_F(Open, EveryFailureIsADeviceErrorAndIsKept) {
  int clear = 0, outcome = -1;
  for (int nth = 1; nth < 100 && outcome != opened; ++nth) {
    outcome = ChildProcess("OpenChild.DISABLED_OpensWithAFailure", std::to_string(nth)).wait();
    ASSERT_THAT(outcome, ::testing::AnyOf(opened, failed_clearly, opened_nevertheless))
        << "call " << nth;
    clear += outcome == failed_clearly;
  }
  EXPECT_EQ(outcome, opened);
  EXPECT_GT(clear, 5);
}

}  // namespace
}  // namespace fuseline::test
