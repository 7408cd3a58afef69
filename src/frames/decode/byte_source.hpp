// Where a decoder's bytes come from: memory, or a regular file read piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace fuseline {

// Decoders call next() and read() from inside C libraries, so neither throws.
class ByteSource {
 public:
  using Piece = std::span<const std::uint8_t>;

  explicit ByteSource(std::span<const std::byte> memory);
  // Throws Error unless `path` is a readable regular file; never blocks on a FIFO or a device.
  explicit ByteSource(const std::filesystem::path& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // The beginning, as far as it has been read: all of it, or at least the first 4096 bytes.
  // Only before the first next() or read().
  Piece beginning() const { return rest_; }
  // The bytes that follow; empty at the end and after a failed read.
  Piece next() noexcept;
  // Exactly `count` bytes, or false.
  bool read(std::uint8_t* to, std::size_t count) noexcept;
  // errno of the read that failed, or 0.
  int error() const noexcept { return error_; }

 private:
  void refill() noexcept;

  int file_ = -1;
  int error_ = 0;
  std::size_t capacity_ = 0;
  std::unique_ptr<std::uint8_t[]> buffer_;
  Piece rest_;
};

}  // namespace fuseline
