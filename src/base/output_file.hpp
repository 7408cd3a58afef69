// A file that appears under its name only when it is complete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace fuseline {

// Writes to a temporary file in the target's folder; commit() renames it, and the destructor
// removes it if commit() was not reached. A link is written through. All errors are Error.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::uint8_t> bytes);
  void commit();

 private:
  [[noreturn]] void fail_here(int error) const;

  std::filesystem::path shown_;
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int file_ = -1;
};

}  // namespace fuseline
