// Runs the command of one side once, with its stages.
#pragma once

#include <string>
#include <vector>

#include "ledger/bench.hpp"
#include "ledger/stage_file.hpp"

namespace fuseline::cli {

// One process after the other writes its marks into one file, which this object keeps. While it
// lives, FUSELINE_STAGES names that file.
class BenchRunner {
 public:
  // `per`: the stage whose median span is the run, or empty for the whole process.
  BenchRunner(std::vector<std::string> fuseline_commands, double timeout_seconds, std::string per);

  // A run of the words; the first one may name a Fuseline command. Throws Error for a program that
  // fails, is missing or takes too long.
  RunOnce runs_of(const std::vector<std::string>& words);
  // The words as they are shown: a Fuseline command behind "fuseline".
  std::vector<std::string> shown(const std::vector<std::string>& words) const;
  // What was wrong with marks so far, one line each.
  std::vector<std::string> warnings() const;

 private:
  bool is_own(const std::vector<std::string>& words) const;
  RunSample run(const std::vector<std::string>& words);

  std::vector<std::string> fuseline_commands_;
  double timeout_seconds_;
  std::string per_;
  StageFile stages_;
  std::uint64_t dropped_ = 0, unmatched_ = 0, open_ = 0;
};

}  // namespace fuseline::cli
