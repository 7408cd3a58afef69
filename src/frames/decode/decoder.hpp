// What the picture decoders have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "frames/decode/byte_source.hpp"

namespace fuseline {

struct StoredSize {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t channels = 0;  // 1, 3 or 4
};

// One picture, read from front to back: read_header(), then read_pixels() at most once.
// Both throw Error with `name` at the front of the message.
class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual StoredSize read_header() = 0;
  // Writes height x width x channels bytes, and fails unless the file is complete and sound.
  virtual void read_pixels(std::uint8_t* to) = 0;
  // EXIF 1..8, as known so far: a PNG may tell it behind the pixels.
  virtual int orientation() const = 0;
};

// `bytes` must outlive the decoder.
std::unique_ptr<Decoder> open_jpeg(ByteSource& bytes, std::string name);
std::unique_ptr<Decoder> open_png(ByteSource& bytes, std::string name);

// Why decoding stopped, in one line: a failed read, a file that ends too early, or `reason`.
[[noreturn]] void fail_decoding(const ByteSource& bytes, const std::string& name,
                                std::string_view format, bool truncated, std::string_view reason);

}  // namespace fuseline
