// Temporary file, write, close, rename; every step is checked.
#include "base/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/fail.hpp"
#include "base/path_text.hpp"

namespace fuseline {
namespace {

// Renaming onto a device or a FIFO would replace it, and onto a link would replace the link.
std::filesystem::path resolve_target(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path target = path;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(path, error))) {
    target = std::filesystem::weakly_canonical(path, error);
    if (error) fail("{}: cannot be written: {}", path_text(path), error.message());
  }
  auto status = std::filesystem::status(target, error);
  if (std::filesystem::is_directory(status))
    fail("{}: cannot be written: it is a folder", path_text(path));
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    fail("{}: cannot be written: it is not a regular file", path_text(path));
  return target;
}

std::filesystem::path temporary_beside(const std::filesystem::path& target) {
  static std::atomic<unsigned> serial{0};
  std::string name = fmt::format(".fuseline-{}-{}.tmp", ::getpid(), serial++);
  return target.parent_path() / name;
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& path)
    : shown_(path), target_(resolve_target(path)) {
  do {
    temporary_ = temporary_beside(target_);
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file_ < 0 && errno == EEXIST);
  if (file_ < 0) fail_here(errno);
}

OutputFile::~OutputFile() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(file_, bytes.data(), bytes.size());
    if (count >= 0)
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    else if (errno != EINTR)
      fail_here(errno);
  }
}

void OutputFile::commit() {
  if (::close(std::exchange(file_, -1)) != 0) fail_here(errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_here(errno);
  temporary_.clear();
}

void OutputFile::fail_here(int error) const {
  fail("{}: cannot be written: {}", path_text(shown_), std::strerror(error));
}

}  // namespace fuseline
