// Cases that a Python script computes with SciPy and NumPy.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

namespace fuseline::test {

// Runs tests/ledger/SCRIPT and hands its output to `compare`, which reads one case a call. Skips
// without FUSELINE_TEST_PYTHON.
inline void compare_with(const std::string& script, int wanted,
                         const std::function<void(std::ifstream&)>& compare) {
  const char* python = std::getenv("FUSELINE_TEST_PYTHON");
  if (!python) GTEST_SKIP() << "FUSELINE_TEST_PYTHON is not set; tests/python-env prints it";
  std::string output = testing::TempDir() + "fuseline_" + script + ".txt";
  std::string command = std::string("\"") + python + "\" \"" FUSELINE_SOURCE_DIR "/tests/ledger/" +
                        script + "\" > \"" + output + "\"";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  std::ifstream in(output);
  int cases = 0;
  for (; in.peek() != EOF; ++cases) {
    SCOPED_TRACE(cases);
    compare(in);
  }
  EXPECT_EQ(cases, wanted);
  std::remove(output.c_str());
}

}  // namespace fuseline::test
