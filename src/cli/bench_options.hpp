// The options of `fuseline bench` and what they mean.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ledger/bench.hpp"
#include "ledger/run_record.hpp"

namespace fuseline::cli {

struct BenchLoad {
  Arrivals arrivals = Arrivals::fixed;
  double per_second = 0;
};

// Texts of kernels; `before` is empty where it is ours.
struct KernelFiles {
  std::string before, after;
};

struct BenchOptions {
  std::vector<std::string> command;
  std::optional<std::string> before, after;
  std::string name, runs, seconds, timeout = "600", rate, target, items, threshold = "2";
  std::string kernels = "kernels", per;
  bool gate = false, json = false, no_store = false, same_output = false;

  void add_to(CLI::App& app);
  // The checked options; errors name the option.
  std::vector<RunSide> sides() const;  // without measurements
  RunSettings settings() const;
  BenchPlan plan() const;
  std::optional<BenchLoad> load() const;
  // Where --after names a kernel's text (K.cu) instead of words for COMMAND.
  std::optional<KernelFiles> kernels_to_compare() const;
  double timeout_seconds() const;
};

// "33ms", "1.5s", "500us" or plain milliseconds.
double parse_milliseconds(std::string_view option, const std::string& text);
double parse_number(std::string_view option, const std::string& text, double low, double high);
// Words as a shell splits them: blanks, quotes and backslashes; nothing is expanded.
std::vector<std::string> split_words(std::string_view option, const std::string& text);

}  // namespace fuseline::cli
