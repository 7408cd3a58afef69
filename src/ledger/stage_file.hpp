// The file through which a measured program tells its stages (include/fuseline/stage.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ledger/timeline.hpp"

namespace fuseline {

struct StageMarks {
  std::vector<Span> spans;
  std::uint64_t dropped = 0;    // marks that found no place
  std::uint64_t unmatched = 0;  // ends without a begin, and marks that were cut off
  std::uint64_t open = 0;       // begins without an end; they last until `end`
  // Ranges of NVTX: stages where the program marks none by itself, else left out.
  std::uint64_t ranges = 0;
  bool ranges_are_stages = false;
};

// A file in the folder for temporary files, removed with the object. A program that cannot share
// memory safely (Python) writes beside it, to the same name with its process number behind.
class StageFile {
 public:
  StageFile();
  ~StageFile();
  StageFile(const StageFile&) = delete;
  StageFile& operator=(const StageFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Forgets the marks of the last run.
  void reset();
  // The marks of this run; stages that were left open end at `end`.
  StageMarks read(Nanoseconds end) const;

 private:
  std::filesystem::path path_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

// The present instant of CLOCK_MONOTONIC, which all marks carry.
Nanoseconds monotonic_now();

}  // namespace fuseline
