// PNG chunks around a run-length deflate stream.
#include "frames/encode/png_stream.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/fail.hpp"

namespace fuseline {
namespace {

// One block of the compressor: it stays in the second-level cache with its tokens.
constexpr std::size_t block_bytes = 128 * 1024;
constexpr std::size_t chunk_bytes = 1024 * 1024;

void store_big(std::uint8_t* to, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

std::size_t samples(PngColor color) {
  return color == PngColor::gray ? 1 : color == PngColor::rgb ? 3 : 4;
}

}  // namespace

PngStream::PngStream(const std::filesystem::path& path, std::int64_t width, std::int64_t height,
                     int bit_depth, PngColor color)
    : file_(path) {
  auto row_bits =
      static_cast<std::size_t>(width) * samples(color) * static_cast<std::size_t>(bit_depth);
  row_bytes_ = 1 + (row_bits + 7) / 8;
  rows_.resize(row_bytes_ * std::max<std::size_t>(1, block_bytes / row_bytes_));
  constexpr std::array<std::uint8_t, 8> signature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  file_.write(signature);
  std::array<std::uint8_t, 13> header{};
  store_big(header.data(), static_cast<std::uint32_t>(width));
  store_big(header.data() + 4, static_cast<std::uint32_t>(height));
  header[8] = static_cast<std::uint8_t>(bit_depth);
  header[9] = static_cast<std::uint8_t>(color);
  put_chunk("IHDR", header);
}

std::span<std::uint8_t> PngStream::next_row() {
  if (filled_ == rows_.size()) compress(false);
  std::span<std::uint8_t> row(rows_.data() + filled_, row_bytes_);
  filled_ += row_bytes_;
  return row;
}

void PngStream::compress(bool last) {
  deflate_.add({rows_.data(), filled_}, last);
  filled_ = 0;
  std::vector<std::uint8_t>& bytes = deflate_.bytes();
  if (!last && bytes.size() < chunk_bytes) return;
  constexpr std::size_t most = 1u << 30;  // a chunk's length has 31 bits
  for (std::span<const std::uint8_t> left(bytes); !left.empty();) {
    put_chunk("IDAT", left.first(std::min(left.size(), most)));
    left = left.subspan(std::min(left.size(), most));
  }
  bytes.clear();
}

void PngStream::finish() {
  compress(true);
  put_chunk("IEND", {});
  file_.commit();
}

void PngStream::put_chunk(const char (&type)[5], std::span<const std::uint8_t> body) {
  std::array<std::uint8_t, 8> head;
  store_big(head.data(), static_cast<std::uint32_t>(body.size()));
  std::memcpy(head.data() + 4, type, 4);
  uLong crc = crc32_z(0, head.data() + 4, 4);
  if (!body.empty()) crc = crc32_z(crc, body.data(), body.size());
  std::array<std::uint8_t, 4> tail;
  store_big(tail.data(), static_cast<std::uint32_t>(crc));
  file_.write(head);
  file_.write(body);
  file_.write(tail);
}

}  // namespace fuseline
