// The exit codes of the program.
#pragma once

namespace fuseline::cli {

enum ExitCode : int {
  exit_fine = 0,
  exit_some_failed = 1,   // a check failed, something is slower, or some files of a batch failed
  exit_usage = 2,         // bad usage or input
  exit_device = 3,        // a device or library is missing or failed
  exit_inconclusive = 4,  // a gate could not be decided
  exit_internal = 70,
  exit_interrupted = 130,
};

}  // namespace fuseline::cli
