// Runs the command of one side once, with its stages.
#pragma once

#include <string>
#include <vector>

#include "ledger/bench.hpp"
#include "ledger/run_watch.hpp"
#include "ledger/stage_file.hpp"

namespace fuseline::cli {

// One process after the other writes its marks into one file, which this object keeps. While it
// lives, FUSELINE_STAGES names that file. NVTX ranges of programs that are not ours come the same
// way, unless NVTX_INJECTION64_PATH names another tool.
class BenchRunner {
 public:
  // `per`: the stage whose median span is the run, or empty for the whole process.
  BenchRunner(std::vector<std::string> fuseline_commands, double timeout_seconds, std::string per);

  // A run of the words; the first one may name a Fuseline command. Throws Error for a program that
  // fails, is missing or takes too long.
  RunOnce runs_of(const std::vector<std::string>& words);
  // The words as they are shown: a Fuseline command behind "fuseline".
  std::vector<std::string> shown(const std::vector<std::string>& words) const;
  // Whether the stages so far are the program's NVTX ranges.
  bool stages_are_ranges() const { return range_stages_ > 0; }
  // What was wrong with marks so far, one line each.
  std::vector<std::string> warnings() const;

 private:
  bool is_own(const std::vector<std::string>& words) const;
  RunSample run(const std::vector<std::string>& words, bool own);

  std::vector<std::string> fuseline_commands_;
  double timeout_seconds_;
  std::string per_;
  StageFile stages_;
  RunWatch watch_;
  std::string nvtx_library_;  // that a program opens to tell its ranges; empty: none does
  std::string nvtx_note_;     // why, or what else a reader should know
  std::uint64_t dropped_ = 0, unmatched_ = 0, open_ = 0, ranges_left_out_ = 0, range_stages_ = 0;
};

}  // namespace fuseline::cli
