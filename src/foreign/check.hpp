// The check of a foreign kernel against its contract.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "foreign/compile.hpp"
#include "foreign/runner.hpp"

namespace fuseline::foreign {

struct CheckOptions {
  std::string device = "auto";  // "cpu": the host simulator, "cuda", "cuda:N"
  int sm = 0;                   // 0: the device's, or 90 without one
  std::function<void(int done, int all)> progress;
};

struct Report {
  LaunchWish wish;
  Compiled compiled;
  std::string runner;                // where it ran; empty where it did not
  std::string rejection;             // why it did not run, in the compiler's words
  int runs = 0, failed = 0;          // a run: one size at one set of base addresses
  int planned = 0;                   // more than `runs` where a fault ended everything
  std::vector<std::string> skipped;  // sizes that the graph does not take, and why
  std::vector<Fault> faults;         // of every failed run, the first few of each

  bool passed() const { return rejection.empty() && runs > 0 && failed == 0 && runs == planned; }
};

// Throws Error where the text cannot be used at all (a bad wish, no such device).
Report check_kernel(const std::string& text, const std::string& file, const Contract& contract,
                    const CheckOptions& options);

}  // namespace fuseline::foreign
