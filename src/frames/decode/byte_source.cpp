// Bytes from memory or from a file.
#include "frames/decode/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/fail.hpp"
#include "base/path_text.hpp"

namespace fuseline {
namespace {

// libjpeg leaves its fast path for the last few kilobytes of every piece: pieces are long, yet
// far smaller than the files, so that few fresh pages are touched.
constexpr std::size_t piece_bytes = 512 * 1024;
constexpr std::size_t least_piece_bytes = 4096;

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "a special file";
}

void require_regular(const struct stat& status, const std::filesystem::path& path) {
  if (!S_ISREG(status.st_mode))
    fail("{}: {}, not a picture file", path_text(path), kind_of(status.st_mode));
}

}  // namespace

ByteSource::ByteSource(std::span<const std::byte> memory)
    : rest_(reinterpret_cast<const std::uint8_t*>(memory.data()), memory.size()) {}

ByteSource::ByteSource(const std::filesystem::path& path) {
  // Looked at before it is opened, because opening a device can already do something.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    fail("{}: cannot be read: {}", path_text(path), std::strerror(errno));
  require_regular(status, path);
  file_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (file_ < 0) fail("{}: cannot be read: {}", path_text(path), std::strerror(errno));
  try {
    if (::fstat(file_, &status) != 0)
      fail("{}: cannot be read: {}", path_text(path), std::strerror(errno));
    require_regular(status, path);
    capacity_ =
        std::clamp(static_cast<std::size_t>(status.st_size), least_piece_bytes, piece_bytes);
    buffer_ = std::make_unique_for_overwrite<std::uint8_t[]>(capacity_);
    refill();
    if (error_) fail("{}: cannot be read: {}", path_text(path), std::strerror(error_));
  } catch (...) {
    ::close(file_);
    throw;
  }
}

ByteSource::~ByteSource() {
  if (file_ >= 0) ::close(file_);
}

void ByteSource::refill() noexcept {
  std::size_t filled = 0;
  while (filled < capacity_) {
    ssize_t count = ::read(file_, buffer_.get() + filled, capacity_ - filled);
    if (count > 0)
      filled += static_cast<std::size_t>(count);
    else if (count == 0)
      break;
    else if (errno != EINTR) {
      error_ = errno;
      break;
    }
  }
  rest_ = Piece(buffer_.get(), filled);
}

ByteSource::Piece ByteSource::next() noexcept {
  if (rest_.empty() && file_ >= 0 && !error_) refill();
  Piece piece = rest_;
  rest_ = {};
  return piece;
}

bool ByteSource::read(std::uint8_t* to, std::size_t count) noexcept {
  while (count > 0) {
    if (rest_.empty() && file_ >= 0 && !error_) refill();
    if (rest_.empty()) return false;
    std::size_t taken = std::min(count, rest_.size());
    std::memcpy(to, rest_.data(), taken);
    rest_ = rest_.subspan(taken);
    to += taken;
    count -= taken;
  }
  return true;
}

}  // namespace fuseline
