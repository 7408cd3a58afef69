// The table of signatures.
#include "frames/decode/sniff.hpp"

#include <algorithm>
#include <array>

namespace fuseline {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view name;
  std::size_t offset;
  std::string_view bytes;
};

constexpr std::array signatures = {
    Signature{"JPEG", 0, "\xff\xd8\xff"sv},
    Signature{"PNG", 0, "\x89PNG\r\n\x1a\n"sv},
    Signature{"GIF", 0, "GIF87a"sv},
    Signature{"GIF", 0, "GIF89a"sv},
    Signature{"TIFF", 0, "II*\0"sv},
    Signature{"TIFF", 0, "MM\0*"sv},
    Signature{"BigTIFF", 0, "II+\0"sv},
    Signature{"BigTIFF", 0, "MM\0+"sv},
    Signature{"AVIF", 4, "ftypavif"sv},
    Signature{"AVIF", 4, "ftypavis"sv},
    Signature{"HEIC", 4, "ftypheic"sv},
    Signature{"HEIC", 4, "ftypheix"sv},
    Signature{"HEIC", 4, "ftyphevc"sv},
    Signature{"HEIC", 4, "ftyphevx"sv},
    Signature{"HEIF", 4, "ftypmif1"sv},
    Signature{"HEIF", 4, "ftypmsf1"sv},
    Signature{"JPEG XL", 0, "\xff\x0a"sv},
    Signature{"JPEG XL", 0, "\0\0\0\x0cJXL \r\n\x87\n"sv},
    Signature{"JPEG 2000", 0, "\0\0\0\x0cjP  \r\n\x87\n"sv},
    Signature{"JPEG 2000", 0, "\xff\x4f\xff\x51"sv},
    Signature{"Photoshop", 0, "8BPS\0\x01"sv},
    Signature{"OpenEXR", 0, "\x76\x2f\x31\x01"sv},
    Signature{"QOI", 0, "qoif"sv},
};

bool has(std::span<const std::uint8_t> bytes, std::size_t offset, std::string_view expected) {
  if (bytes.size() < offset + expected.size()) return false;
  return std::equal(expected.begin(), expected.end(), bytes.begin() + offset,
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

// Two letters are weak evidence: the size of the second header must be a known one, too.
bool is_bmp(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < 18 || !has(bytes, 0, "BM")) return false;
  constexpr std::array<std::uint8_t, 8> header_sizes = {12, 16, 40, 52, 56, 64, 108, 124};
  return has(bytes, 15, "\0\0\0"sv) &&
         std::find(header_sizes.begin(), header_sizes.end(), bytes[14]) != header_sizes.end();
}

}  // namespace

std::string_view sniff(std::span<const std::uint8_t> beginning) {
  for (const Signature& s : signatures)
    if (has(beginning, s.offset, s.bytes)) return s.name;
  if (is_bmp(beginning)) return "BMP";
  if (has(beginning, 0, "RIFF") && has(beginning, 8, "WEBP")) return "WebP";
  return {};
}

}  // namespace fuseline
