// What the log writes, at each level of FUSELINE_LOG.
#include "base/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace fuseline {
namespace {

[[noreturn]] void log_all(const char* level) {
  level ? ::setenv("FUSELINE_LOG", level, 1) : ::unsetenv("FUSELINE_LOG");
  log_debug("d{}", 1);
  log_info("i{}", 2);
  log_warn("w{}", 3);
  log_error("e{}", 4);
  std::exit(0);
}

// The level is read once, so each one runs in a program started afresh.
void expect_written(const char* level, const std::string& text) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(log_all(level), testing::ExitedWithCode(0), testing::Eq(text));
}

TEST(Log, levels) {
  expect_written(nullptr, "fuseline: warning: w3\nfuseline: error: e4\n");
  expect_written("warn", "fuseline: warning: w3\nfuseline: error: e4\n");
  expect_written("error", "fuseline: error: e4\n");
  expect_written("off", "");
  expect_written("info", "fuseline: info: i2\nfuseline: warning: w3\nfuseline: error: e4\n");
  expect_written(
      "debug",
      "fuseline: debug: d1\nfuseline: info: i2\nfuseline: warning: w3\nfuseline: error: e4\n");
}

TEST(Log, an_unknown_level_is_named) {
  expect_written(
      "loud",
      "fuseline: warning: FUSELINE_LOG: \"loud\" is not a level; give debug, info, warn, "
      "error or off (warn is used)\nfuseline: warning: w3\nfuseline: error: e4\n");
}

TEST(Log, braces_in_arguments_are_text) {
  testing::internal::CaptureStderr();
  log_warn("{}", "{0} {} %v");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "fuseline: warning: {0} {} %v\n");
}

}  // namespace
}  // namespace fuseline
