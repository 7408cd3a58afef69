// An owned file descriptor.
#pragma once

#include <utility>

namespace fuseline {

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

}  // namespace fuseline
