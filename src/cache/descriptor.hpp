// An owned file descriptor and whole reads and writes through it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

namespace fuseline::cache {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { (void)close(); }

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // False with errno: network file systems report a failed write only here.
  bool close();

 private:
  int fd_ = -1;
};

// Opens for writing with O_CREAT, mode 0600; makes the folder where it is missing.
Descriptor create_file(const std::filesystem::path& path, int flags);

// False with errno; errno is 0 where the file ended early.
bool read_at(int fd, std::size_t offset, std::span<std::byte> into);
bool write_all(int fd, std::span<const std::byte> bytes);

std::string errno_text(int error);

}  // namespace fuseline::cache
