// Peers in Python: a script that leaves files in a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace fuseline::testing {

// Skips without FUSELINE_TEST_PYTHON, which tests/python-env prints.
class PythonTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* python = std::getenv("FUSELINE_TEST_PYTHON");
    if (!python || !*python)
      GTEST_SKIP() << "FUSELINE_TEST_PYTHON is not set; tests/python-env prints it";
    python_ = python;
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(FUSELINE_BINARY_DIR) / "peers" / test->test_suite_name() /
              test->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  // tests/graph/SCRIPT FOLDER ARGUMENTS
  void run(const std::string& script, const std::string& arguments = "") {
    std::string command = "'" + python_ + "' -B '" FUSELINE_SOURCE_DIR "/tests/graph/" + script +
                          "' '" + folder_.string() + "' " + arguments;
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  std::vector<std::uint8_t> bytes(const std::string& file) const {
    std::ifstream in(folder_ / file, std::ios::binary);
    EXPECT_TRUE(in) << file;
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string python_;
  std::filesystem::path folder_;
};

}  // namespace fuseline::testing
