// Tests of this very program in processes of their own.
#pragma once

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace fuseline::test {

inline constexpr const char* child_variable = "FUSELINE_TEST_CHILD";

// What a child was given; nullptr in a process that is none.
inline const char* child_argument() { return std::getenv(child_variable); }

// Runs one test, DISABLED_ or not.
class ChildProcess {
 public:
  ChildProcess(const std::string& test, const std::string& argument) {
    std::string self = std::filesystem::read_symlink("/proc/self/exe");
    std::string filter = "--gtest_filter=" + test;
    std::string variable = std::string(child_variable) + "=" + argument;
    const char* argv[] = {self.c_str(), filter.c_str(), "--gtest_also_run_disabled_tests",
                          "--gtest_brief=1", nullptr};
    std::vector<char*> variables = {variable.data()};
    for (char** at = environ; *at; ++at)  // not where a result file goes, nor which shard
      if (std::strncmp(*at, "GTEST_", 6) != 0) variables.push_back(*at);
    variables.push_back(nullptr);
    if (posix_spawn(&pid_, self.c_str(), nullptr, nullptr, const_cast<char**>(argv),
                    variables.data()) != 0)
      pid_ = 0;
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() { wait(); }

  // The exit code, or -1 where a signal ended it, or the time limit did.
  int wait(std::chrono::seconds limit = std::chrono::seconds(60)) {
    if (pid_ == 0) return code_;
    auto last = std::chrono::steady_clock::now() + limit;
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > last) kill(pid_, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    pid_ = 0;
    return code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = 0;
  int code_ = -1;
};

}  // namespace fuseline::test
