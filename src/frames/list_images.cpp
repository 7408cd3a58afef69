// Finds the pictures below files and folders.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "base/fail.hpp"
#include "frames/decode/sniff.hpp"
#include "base/path_text.hpp"
#include "fuseline/image.hpp"

namespace fuseline {
namespace {

namespace fs = std::filesystem;

std::optional<struct stat> status_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return status;
}

bool has_picture_name(const fs::path& path) {
  std::string extension = path.extension().native();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

// A regular file that should be listed: a picture, or one whose reading says what is wrong.
bool is_picture(const fs::path& path, const struct stat& status) {
  if (status.st_size == 0) return has_picture_name(path);
  int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (file < 0) return true;
  std::array<std::uint8_t, sniff_bytes> bytes;
  ssize_t count = ::pread(file, bytes.data(), bytes.size(), 0);
  ::close(file);
  return count < 0 || !sniff({bytes.data(), static_cast<std::size_t>(count)}).empty();
}

class Walk {
 public:
  Walk(const fs::path& root, std::vector<ImageEntry>& entries) : root_(root), entries_(entries) {}

  void folder(const fs::path& path) {
    std::optional<struct stat> status = status_of(path);
    if (!status || !seen_.emplace(status->st_dev, status->st_ino).second) return;
    std::error_code error;
    std::vector<fs::path> names;
    fs::directory_iterator entry(path, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error))
      names.push_back(entry->path().filename());
    if (error) add(path, fmt::format("{}: cannot be read: {}", path_text(path), error.message()));
    std::sort(names.begin(), names.end(),
              [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
    for (const fs::path& name : names) visit(path / name);
  }

 private:
  void visit(const fs::path& path) {
    std::optional<struct stat> status = status_of(path);
    if (!status) return;  // a link to nothing
    if (S_ISDIR(status->st_mode))
      folder(path);
    else if (S_ISREG(status->st_mode) && is_picture(path, *status))
      add(path, {});
  }

  void add(const fs::path& path, std::string problem) {
    entries_.push_back({path, path.lexically_relative(root_), std::move(problem)});
  }

  const fs::path& root_;
  std::vector<ImageEntry>& entries_;
  std::set<std::pair<dev_t, ino_t>> seen_;
};

}  // namespace

std::vector<ImageEntry> list_images(std::span<const std::filesystem::path> paths) {
  std::vector<ImageEntry> entries;
  for (const fs::path& path : paths) {
    std::optional<struct stat> status = status_of(path);
    if (!status || !S_ISDIR(status->st_mode)) {
      entries.push_back({path, path.filename(), {}});
      continue;
    }
    std::size_t before = entries.size();
    Walk(path, entries).folder(path);
    if (entries.size() == before)
      entries.push_back({path, {}, fmt::format("no pictures in {}", path_text(path))});
  }
  bool usable = std::any_of(entries.begin(), entries.end(),
                            [](const ImageEntry& entry) { return entry.problem.empty(); });
  if (!usable && !entries.empty()) fail("{}", entries.front().problem);
  return entries;
}

}  // namespace fuseline
