// Making, emptying and reading files of stage marks.
#include "ledger/stage_file.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>

#include "base/fail.hpp"
#include "fuseline/stage.h"

namespace fuseline {
namespace {

namespace fs = std::filesystem;
using Header = fuseline_stage_header;
using Mark = fuseline_stage_mark;

static_assert(sizeof(Header) == 64 && sizeof(Mark) == 64, "the layout is what programs write");

std::uint64_t capacity_of(std::size_t bytes) {
  return bytes < sizeof(Header) ? 0 : (bytes - sizeof(Header)) / sizeof(Mark);
}

// Copies what a program may still be writing.
std::vector<Mark> marks_in(const void* memory, std::size_t bytes, StageMarks& result) {
  Header header;
  if (bytes < sizeof(Header)) return {};
  std::memcpy(&header, memory, sizeof(Header));
  if (header.magic != FUSELINE_STAGE_MAGIC) return {};
  std::uint64_t held = std::min(header.count, capacity_of(bytes));
  result.dropped += header.count - held;
  std::vector<Mark> marks(held);
  if (held > 0)
    std::memcpy(marks.data(), static_cast<const char*>(memory) + sizeof(Header),
                held * sizeof(Mark));
  return marks;
}

// The files that processes of Python wrote beside `path`.
std::vector<fs::path> files_beside(const fs::path& path) {
  std::vector<fs::path> files;
  std::string prefix = path.filename().string() + ".";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path.parent_path(), error))
    if (entry.path().filename().string().starts_with(prefix)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<char> bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::int64_t lane_of(const Mark& mark) {
  return static_cast<std::int64_t>(mark.process) << 32 | mark.thread;
}

bool begins(const Mark& mark) {
  return mark.kind == FUSELINE_STAGE_BEGIN || mark.kind == FUSELINE_WAIT_BEGIN ||
         mark.kind == FUSELINE_RANGE_BEGIN;
}
bool is_range(const Mark& mark) {
  return mark.kind == FUSELINE_RANGE_BEGIN || mark.kind == FUSELINE_RANGE_END;
}

// A program that marks stages says what it wants to be told; then its ranges are left out.
void choose_ranges(std::vector<Mark>& marks, StageMarks& result) {
  result.ranges = static_cast<std::uint64_t>(std::count_if(
      marks.begin(), marks.end(), [](const Mark& m) { return m.kind == FUSELINE_RANGE_BEGIN; }));
  result.ranges_are_stages = result.ranges > 0 && std::all_of(marks.begin(), marks.end(), is_range);
  if (!result.ranges_are_stages) std::erase_if(marks, is_range);
}

// Begins and ends of one lane and name become spans; an end closes the last begin.
void pair_up(const std::vector<Mark>& marks, Nanoseconds end, StageMarks& result) {
  struct Open {
    std::string name;
    bool wait;
    Nanoseconds begin;
  };
  std::map<std::int64_t, std::vector<Open>> lanes;
  for (const Mark& mark : marks) {
    std::string name(mark.name, strnlen(mark.name, FUSELINE_STAGE_NAME));
    bool wait = mark.kind == FUSELINE_WAIT_BEGIN || mark.kind == FUSELINE_WAIT_END;
    auto time = static_cast<Nanoseconds>(mark.time);
    std::vector<Open>& open = lanes[lane_of(mark)];
    if (begins(mark)) {
      open.push_back({name, wait, time});
      continue;
    }
    auto found = std::find_if(open.rbegin(), open.rend(), [&](const Open& one) {
      return one.name == name && one.wait == wait;
    });
    bool ends = mark.kind == FUSELINE_STAGE_END || mark.kind == FUSELINE_WAIT_END ||
                mark.kind == FUSELINE_RANGE_END;
    if (!ends || found == open.rend() || time < found->begin) {
      ++result.unmatched;
      continue;
    }
    result.spans.push_back({name, lane_of(mark), found->begin, time, wait});
    open.erase(std::next(found).base());
  }
  for (const auto& [lane, open] : lanes)
    for (const Open& one : open) {
      ++result.open;
      result.spans.push_back({one.name, lane, one.begin, std::max(one.begin, end), one.wait});
    }
}

}  // namespace

StageFile::StageFile() {
  // Memory-backed where there is such a folder, so that marks cause no traffic to a disk.
  std::error_code error;
  fs::path folder = fs::is_directory("/dev/shm", error) ? "/dev/shm" : fs::temp_directory_path();
  std::string name = (folder / "fuseline-stages-XXXXXX").string();
  int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) fail("{}: the file of stage marks cannot be made: {}", name, std::strerror(errno));
  path_ = name;
  bytes_ = sizeof(Header) + sizeof(Mark) * std::size_t{FUSELINE_STAGE_CAPACITY};
  if (::ftruncate(file, static_cast<off_t>(bytes_)) == 0)
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  int problem = errno;
  ::close(file);
  if (memory_ && memory_ != MAP_FAILED) return;
  fs::remove(path_, error);
  fail("{}: the file of stage marks cannot be mapped: {}", name, std::strerror(problem));
}

StageFile::~StageFile() {
  ::munmap(memory_, bytes_);
  std::error_code error;
  for (const fs::path& file : files_beside(path_)) fs::remove(file, error);
  fs::remove(path_, error);
}

void StageFile::reset() {
  auto* header = static_cast<Header*>(memory_);
  std::uint64_t used = std::min(header->count, capacity_of(bytes_));
  std::memset(header + 1, 0, used * sizeof(Mark));
  __atomic_store_n(&header->count, 0, __ATOMIC_RELEASE);
  std::error_code error;
  for (const fs::path& file : files_beside(path_)) fs::remove(file, error);
}

StageMarks StageFile::read(Nanoseconds end) const {
  StageMarks result;
  std::vector<Mark> marks = marks_in(memory_, bytes_, result);
  for (const fs::path& file : files_beside(path_)) {
    std::vector<char> bytes = bytes_of(file);
    std::vector<Mark> more = marks_in(bytes.data(), bytes.size(), result);
    marks.insert(marks.end(), more.begin(), more.end());
  }
  choose_ranges(marks, result);
  // Lanes are read each in the order of its times; equal times keep the order of their places.
  std::stable_sort(marks.begin(), marks.end(),
                   [](const Mark& a, const Mark& b) { return a.time < b.time; });
  pair_up(marks, end, result);
  return result;
}

Nanoseconds monotonic_now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace fuseline
