// The line protocol, and the buffers of the cases.
#include <sys/mman.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "base/fail.hpp"
#include "bench_case.hpp"

namespace fuseline::bench {
namespace {

void answer_run(BenchCase& bench_case, std::size_t count) {
  std::vector<std::int64_t> times(count);
  for (std::int64_t& time : times) {
    auto begin = std::chrono::steady_clock::now();
    bench_case.run();
    time = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  }
  for (std::int64_t time : times) std::cout << time << ' ';
  std::cout << std::endl;
}

}  // namespace

void serve(BenchCase& bench_case) {
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::string command = line.substr(0, line.find(' '));
    std::string rest = command.size() < line.size() ? line.substr(command.size() + 1) : "";
    if (command == "run") {
      answer_run(bench_case, static_cast<std::size_t>(parse_integer(rest, "number of runs")));
    } else if (command == "dump") {
      bench_case.dump(rest);
      std::cout << "dumped" << std::endl;
    } else {
      fail("command '{}': only run K and dump FOLDER exist", line);
    }
  }
}

Buffer::Buffer(std::size_t bytes) : bytes_(bytes) {
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  std::size_t rounded = (bytes + huge_page) / huge_page * huge_page;
  memory_.reset(std::aligned_alloc(huge_page, rounded), std::free);
  if (!memory_) fail_device("out of memory: {} bytes for a buffer", bytes);
  madvise(memory_.get(), rounded, MADV_HUGEPAGE);  // only advice: without it all still works
  std::fill_n(static_cast<char*>(memory_.get()), rounded, char{0});
}

void Buffer::read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  in.read(static_cast<char*>(data()), static_cast<std::streamsize>(bytes_));
  if (!in || in.peek() != std::ifstream::traits_type::eof())
    fail("{}: exactly {} bytes are expected", file.string(), bytes_);
}

void Buffer::write(const std::filesystem::path& file) const {
  std::ofstream out(file, std::ios::binary);
  out.write(static_cast<const char*>(data()), static_cast<std::streamsize>(bytes_));
  if (!out.flush()) fail("{}: could not be written", file.string());
}

std::int64_t parse_integer(const std::string& text, const char* what) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0)
    fail("{} '{}': a whole number is expected", what, text);
  return value;
}

}  // namespace fuseline::bench
