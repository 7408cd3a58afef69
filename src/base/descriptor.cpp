// Closing a file descriptor.
#include "base/descriptor.hpp"

#include <unistd.h>

#include <cerrno>

namespace fuseline {

bool Descriptor::close() {
  int fd = std::exchange(fd_, -1);
  return fd < 0 || ::close(fd) == 0 || errno == EINTR;
}

}  // namespace fuseline
