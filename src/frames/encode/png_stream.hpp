// Writes a PNG file row by row: signature, header, compressed rows, end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "frames/encode/deflate.hpp"
#include "base/output_file.hpp"

namespace fuseline {

// PNG's numbers for the kinds that are written.
enum class PngColor : std::uint8_t { gray = 0, rgb = 2, rgba = 6 };

class PngStream {
 public:
  PngStream(const std::filesystem::path& path, std::int64_t width, std::int64_t height,
            int bit_depth, PngColor color);

  // Where to write the next row: the filter byte, then its packed samples.
  std::span<std::uint8_t> next_row();
  // After the last row; only then the file appears.
  void finish();

 private:
  void compress(bool last);
  void put_chunk(const char (&type)[5], std::span<const std::uint8_t> body);

  OutputFile file_;
  RunDeflate deflate_;
  std::size_t row_bytes_;
  std::size_t filled_ = 0;
  std::vector<std::uint8_t> rows_;
};

}  // namespace fuseline
