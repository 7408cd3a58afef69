// Progress of counted work: a bar on a terminal, a plain line every few seconds elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace fuseline::cli {

// Shown on stderr. One thread at a time.
class Progress {
 public:
  // `unit` is what is counted: "pictures".
  Progress(std::string unit, std::size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance();
  // A line on `stream` that does not break the bar.
  void print(std::FILE* stream, std::string_view line);

 private:
  using Clock = std::chrono::steady_clock;
  void show();
  void draw();
  void clear();

  std::string unit_;
  std::size_t total_;
  std::size_t done_ = 0;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
};

}  // namespace fuseline::cli
