// The EXIF orientation reader on well-formed and hostile blocks.
#include "frames/decode/exif.hpp"

#include "frames/support.hpp"

namespace fuseline::test {
namespace {

TEST(Exif, ReadsBothByteOrders) {
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (bool big_endian : {false, true})
      EXPECT_EQ(exif_orientation(exif_block(orientation, big_endian)), orientation);
}

TEST(Exif, ReadsLongValuesToo) {
  Bytes block = exif_block(6, false);
  block[12] = 4;
  EXPECT_EQ(exif_orientation(block), 6);
}

TEST(Exif, AnythingInvalidIsUpright) {
  for (int orientation : {0, 9, 255, 65535})
    EXPECT_EQ(exif_orientation(exif_block(orientation, true)), 1);
  Bytes block = exif_block(6, false);
  block[2] = 43;  // not TIFF
  EXPECT_EQ(exif_orientation(block), 1);
  block = exif_block(6, false);
  block[0] = 'M';  // half a byte order mark
  EXPECT_EQ(exif_orientation(block), 1);
  block = exif_block(6, false);
  block[12] = 2;  // a text
  EXPECT_EQ(exif_orientation(block), 1);
}

TEST(Exif, CutAtEveryLength) {
  const Bytes block = exif_block(6, true);
  for (std::size_t length = 0; length <= block.size(); ++length) {
    // A copy of exactly this size, so that a sanitizer sees any read past it.
    Bytes cut(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(length));
    cut.shrink_to_fit();
    bool value_there = length >= 20;
    EXPECT_EQ(exif_orientation(cut), value_there ? 6 : 1) << length;
  }
}

TEST(Exif, OffsetsBeyondTheBlock) {
  for (std::uint8_t high : {0x00, 0x7f, 0xff})
    for (std::uint8_t low : {0x00, 0x07, 0x19, 0x20, 0xf0, 0xff}) {
      Bytes block = exif_block(6, true);
      block[4] = block[5] = block[6] = high;
      block[7] = low;
      int orientation = exif_orientation(block);
      EXPECT_GE(orientation, 1);
      EXPECT_LE(orientation, 8);
    }
  Bytes block = exif_block(6, true);
  block[8] = block[9] = 0xff;  // more entries than bytes
  block[11] = 0x13;
  EXPECT_EQ(exif_orientation(block), 1);
}

}  // namespace
}  // namespace fuseline::test
