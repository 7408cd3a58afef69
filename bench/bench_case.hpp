// One measurable piece of work, and the line protocol through which bench/peers drives it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace fuseline::bench {

// All buffers are made in the constructor; run() allocates nothing of its own.
class BenchCase {
 public:
  virtual ~BenchCase() = default;
  virtual void run() = 0;
  // Writes the outputs of the last run as raw little-endian files into the folder.
  virtual void dump(const std::filesystem::path& folder) = 0;
};

using Arguments = std::vector<std::string>;
std::unique_ptr<BenchCase> make_mask_case(const Arguments& arguments);
std::unique_ptr<BenchCase> make_chain_case(const Arguments& arguments);
std::unique_ptr<BenchCase> make_model_case(const Arguments& arguments);
std::unique_ptr<BenchCase> make_jpeg_case(const Arguments& arguments);
// Compiles one Region in this process, which has compiled nothing yet, and prints what it took.
void print_compile_times(const Arguments& arguments);
// Counts the verdicts on synthetic streams of times.
void print_verdicts(const Arguments& arguments);

// Reads commands from stdin until it ends, and answers each with one line on stdout:
//   "ready"       comes first, when the case is set up
//   "run K"       K wall times in nanoseconds
//   "dump FOLDER" "dumped"
void serve(BenchCase& bench_case);

// Memory with the huge pages that numpy asks for too, so that both sides of a comparison have the
// same kind of buffer.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes);
  void* data() const { return memory_.get(); }
  std::size_t size() const { return bytes_; }
  void read(const std::filesystem::path& file);  // the file must have exactly size() bytes
  void write(const std::filesystem::path& file) const;

 private:
  std::size_t bytes_;
  std::shared_ptr<void> memory_;
};

std::int64_t parse_integer(const std::string& text, const char* what);

}  // namespace fuseline::bench
