// Reads the orientation from an EXIF block; every offset is checked against the block.
#include "frames/decode/exif.hpp"

#include <optional>

namespace fuseline {
namespace {

class TiffReader {
 public:
  explicit TiffReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    if (bytes.size() < 8) return;
    big_endian_ = bytes[0] == 'M';
    bool marked = (bytes[0] == 'M' && bytes[1] == 'M') || (bytes[0] == 'I' && bytes[1] == 'I');
    valid_ = marked && number(2, 2) == 42u;
  }
  bool valid() const { return valid_; }

  std::optional<std::uint32_t> number(std::uint64_t offset, int count) const {
    if (offset + static_cast<std::uint64_t>(count) > bytes_.size()) return {};
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i) {
      std::uint32_t byte = bytes_[offset + static_cast<std::uint64_t>(i)];
      value |= byte << (8 * (big_endian_ ? count - 1 - i : i));
    }
    return value;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  bool big_endian_ = false;
  bool valid_ = false;
};

constexpr std::uint32_t orientation_tag = 0x0112;
constexpr std::uint32_t type_short = 3;
constexpr std::uint32_t type_long = 4;

// An entry: tag (2), type (2), count (4), value or offset (4).
std::optional<std::uint32_t> entry_value(const TiffReader& tiff, std::uint64_t entry) {
  auto type = tiff.number(entry + 2, 2);
  if (type == type_short) return tiff.number(entry + 8, 2);
  if (type == type_long) return tiff.number(entry + 8, 4);
  return {};
}

}  // namespace

int exif_orientation(std::span<const std::uint8_t> block) {
  TiffReader tiff(block);
  if (!tiff.valid()) return 1;
  std::uint64_t directory = tiff.number(4, 4).value_or(0);
  std::uint32_t entries = tiff.number(directory, 2).value_or(0);
  for (std::uint32_t i = 0; i < entries; ++i) {
    std::uint64_t entry = directory + 2 + std::uint64_t{12} * i;
    auto tag = tiff.number(entry, 2);
    if (!tag) return 1;
    if (*tag != orientation_tag) continue;
    std::uint32_t value = entry_value(tiff, entry).value_or(1);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace fuseline
