// Whole reads and writes, interrupted or not.
#include "cache/descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace fuseline::cache {

Descriptor create_file(const std::filesystem::path& path, int flags) {
  constexpr mode_t owner_only = 0600;  // others must not be able to hand us code
  Descriptor file(::open(path.c_str(), flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW, owner_only));
  if (file || errno != ENOENT) return file;
  std::error_code ignored;  // the second open reports what is wrong
  std::filesystem::create_directories(path.parent_path().parent_path(), ignored);
  ::mkdir(path.parent_path().c_str(), 0700);
  return Descriptor(::open(path.c_str(), flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW, owner_only));
}

bool read_at(int fd, std::size_t offset, std::span<std::byte> into) {
  while (!into.empty()) {
    ssize_t got = ::pread(fd, into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) {
      errno = 0;
      return false;
    }
    offset += static_cast<std::size_t>(got);
    into = into.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

bool write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

std::string errno_text(int error) { return std::generic_category().message(error); }

}  // namespace fuseline::cache
