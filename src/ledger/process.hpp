// Running a program once: its time, its stages, what it used and what it wrote.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ledger/timeline.hpp"

namespace fuseline {

struct ProcessRun {
  Nanoseconds begin = 0;  // CLOCK_MONOTONIC, before the start
  Nanoseconds end = 0;    // when the exit was seen
  double user_seconds = 0;
  double system_seconds = 0;
  std::int64_t peak_bytes = 0;
  std::uint64_t output_hash = 0;  // of what it wrote to stdout
  std::string output;             // that text, if it was asked for
  std::string last_error_line;    // of stderr
  int exit_code = 0;              // 128 + the signal where one ended it
};

struct ProcessOptions {
  double timeout_seconds = 0;  // 0: none
  bool keep_output = false;
  std::function<bool()> interrupted;  // asked every 50 ms; the program is ended then
  // Called while the program runs: at once, then less and less often, every 50 ms at last.
  std::function<void(pid_t)> look = {};
  // Variables of its environment beside those of this process, or instead of them.
  std::vector<std::pair<std::string, std::string>> environment = {};
};

// Runs the words, the first being a program on PATH or a path, with nothing on stdin. Throws Error
// for a program that cannot be started or that ran past the timeout, and one of the kind
// `interrupted`; an exit code that is not 0 is told, not thrown.
ProcessRun run_process(const std::vector<std::string>& words, const ProcessOptions& options);

// What the program wrote to stdout; none if it failed or is missing.
std::optional<std::string> output_of(const std::vector<std::string>& words);

}  // namespace fuseline
