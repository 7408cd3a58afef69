// JPEG: pixels equal to libjpeg's own, orientation, what is refused, and damage.
#include <gmock/gmock.h>

#include "frames/jpeg_support.hpp"

namespace fuseline::test {
namespace {

using testing::HasSubstr;

TEST(ReadJpeg, ColorEqualsLibjpeg) {
  for (auto [height, width] : {std::pair{1, 1}, {1, 17}, {33, 1}, {16, 16}, {61, 103}, {200, 333}})
    for (auto [h, v] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}})
      for (bool progressive : {false, true}) {
        JpegOptions options;
        options.horizontal = h;
        options.vertical = v;
        options.progressive = progressive;
        Bytes bytes = make_jpeg(gradient(height, width, 3), height, width, options);
        Image image = decode(bytes);
        EXPECT_EQ(image.pixels.shape(), (Shape{height, width, 3}));
        EXPECT_EQ(image.format, ImageFormat::jpeg);
        EXPECT_EQ(bytes_of(image.pixels), libjpeg_pixels(bytes, JCS_RGB))
            << height << "x" << width << " sampling " << h << "x" << v;
      }
}

TEST(ReadJpeg, GrayHasOneChannel) {
  JpegOptions options;
  options.color = JCS_GRAYSCALE;
  options.samples = 1;
  Bytes bytes = make_jpeg(gradient(37, 53, 1), 37, 53, options);
  Image image = decode(bytes);
  EXPECT_EQ(image.pixels.shape(), (Shape{37, 53, 1}));
  EXPECT_EQ(bytes_of(image.pixels), libjpeg_pixels(bytes, JCS_GRAYSCALE));
}

TEST(ReadJpeg, RestartMarkersAreFollowed) {
  JpegOptions options;
  options.restart_rows = 1;
  Bytes bytes = make_jpeg(gradient(90, 70, 3), 90, 70, options);
  EXPECT_EQ(bytes_of(decode(bytes).pixels), libjpeg_pixels(bytes, JCS_RGB));
}

class ReadJpegFile : public FolderTest {};

TEST_F(ReadJpegFile, LongerThanOnePieceAndWithLongMarkers) {
  JpegOptions options;
  options.quality = 100;
  options.exif = exif_block(1, false);
  options.exif.resize(60000);
  Bytes bytes = make_jpeg(noise(900 * 900 * 3), 900, 900, options);
  ASSERT_GT(bytes.size(), 1024u * 1024u);
  EXPECT_EQ(bytes_of(read_image(file("big.jpg", bytes)).pixels), libjpeg_pixels(bytes, JCS_RGB));
}

TEST(ReadJpeg, EveryOrientation) {
  const int height = 70, width = 131;
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (int samples : {1, 3}) {
      JpegOptions options;
      options.color = samples == 1 ? JCS_GRAYSCALE : JCS_RGB;
      options.samples = samples;
      options.exif = exif_block(orientation, orientation % 2 == 0);
      Bytes bytes = make_jpeg(gradient(height, width, samples), height, width, options);
      Bytes stored = libjpeg_pixels(bytes, options.color);
      Image image = decode(bytes);
      EXPECT_EQ(image.orientation, orientation);
      EXPECT_EQ(image.height(), orientation >= 5 ? width : height);
      EXPECT_EQ(bytes_of(image.pixels), shown(stored, height, width, samples, orientation));
      ImageInfo info = probe_image(std::as_bytes(std::span(bytes)));
      EXPECT_EQ(info.height, image.height());
      EXPECT_EQ(info.width, image.width());
      ReadOptions as_stored;
      as_stored.apply_orientation = false;
      EXPECT_EQ(bytes_of(decode(bytes, as_stored).pixels), stored);
    }
}

TEST(ReadJpeg, RefusesCmykByName) {
  JpegOptions options;
  options.color = JCS_CMYK;
  options.samples = 4;
  options.horizontal = options.vertical = 1;
  Bytes bytes = make_jpeg(gradient(16, 16, 4), 16, 16, options);
  EXPECT_THAT(error_of([&] { decode(bytes); }), HasSubstr("not supported yet: CMYK JPEG"));
}

std::size_t find_frame(const Bytes& bytes) {
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i)
    if (bytes[i] == 0xff && bytes[i + 1] == 0xc0) return i;
  return 0;
}

TEST(ReadJpeg, RefusesTwelveBitsAndLosslessByName) {
  Bytes bytes = make_jpeg(gradient(16, 16, 3), 16, 16, {});
  std::size_t frame = find_frame(bytes);
  ASSERT_GT(frame, 0u);
  Bytes deep = bytes;
  deep[frame + 4] = 12;
  EXPECT_THAT(error_of([&] { decode(deep); }), HasSubstr("not supported yet: 12-bit JPEG"));
  Bytes lossless = bytes;
  lossless[frame + 1] = 0xc3;
  EXPECT_THAT(error_of([&] { decode(lossless); }), HasSubstr("JPEG"));
}

TEST(ReadJpeg, DeclaredSizeIsCheckedBeforeMemoryIsTaken) {
  Bytes bytes = make_jpeg(gradient(16, 16, 3), 16, 16, {});
  std::size_t frame = find_frame(bytes);
  for (std::size_t i = 5; i < 9; i += 2) bytes[frame + i] = 0xf0;  // 61456 x 61456
  EXPECT_THAT(error_of([&] { decode(bytes); }), HasSubstr("limit of 1000000000 pixels"));
  ReadOptions tight;
  tight.limits.max_pixels = 255;
  Bytes small = make_jpeg(gradient(16, 16, 3), 16, 16, {});
  EXPECT_THAT(error_of([&] { decode(small, tight); }), HasSubstr("limit of 255 pixels"));
  tight.limits.max_pixels = 256;
  EXPECT_EQ(decode(small, tight).width(), 16);
}

TEST(ReadJpeg, EveryTruncationIsAnError) {
  for (bool progressive : {false, true}) {
    JpegOptions options;
    options.progressive = progressive;
    options.exif = exif_block(6, false);
    Bytes bytes = make_jpeg(gradient(40, 56, 3), 40, 56, options);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
      std::string message = error_of([&] { decode(cut); });
      if (length > 3) {
        EXPECT_THAT(message, HasSubstr("truncated JPEG"));
      }
    }
  }
}

TEST(ReadJpeg, LostDataIsAnErrorAndStrayBytesAtTheEndAreNot) {
  JpegOptions options;
  options.restart_rows = 1;
  Bytes bytes = make_jpeg(gradient(160, 160, 3), 160, 160, options);
  Bytes padded = bytes;
  padded.insert(padded.end() - 2, {0, 0, 0});
  EXPECT_EQ(bytes_of(decode(padded).pixels), libjpeg_pixels(bytes, JCS_RGB));
  Bytes holed = bytes;
  auto middle = holed.begin() + static_cast<std::ptrdiff_t>(holed.size() / 2);
  holed.erase(middle, middle + 300);
  EXPECT_THAT(error_of([&] { decode(holed); }), HasSubstr("damaged JPEG"));
}

// A small file must not ask for hours of work: here the scan that refines the DC values, which
// may be repeated without harm, comes again and again.
TEST(ReadJpeg, EndlessScansAreRefused) {
  JpegOptions options;
  options.progressive = true;
  const Bytes bytes = make_jpeg(gradient(16, 16, 3), 16, 16, options);
  const Bytes head = {0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 0, 0x10};
  auto start = std::search(bytes.begin(), bytes.end(), head.begin(), head.end());
  ASSERT_NE(start, bytes.end());
  auto end = std::find(start + 2, bytes.end(), 0xff);
  for (int times : {3, 600}) {
    Bytes repeated(bytes.begin(), start);
    for (int i = 0; i < times; ++i) repeated.insert(repeated.end(), start, end);
    repeated.insert(repeated.end(), end, bytes.end());
    if (times == 3) {
      EXPECT_EQ(bytes_of(decode(repeated).pixels), libjpeg_pixels(bytes, JCS_RGB));
    } else {
      EXPECT_THAT(error_of([&] { decode(repeated); }), HasSubstr("more than 500 scans"));
    }
  }
}

TEST(ReadJpeg, FlippedBytesNeverCrash) {
  std::mt19937 random(7);
  for (bool progressive : {false, true}) {
    JpegOptions options;
    options.progressive = progressive;
    options.exif = exif_block(8, true);
    const Bytes bytes = make_jpeg(gradient(48, 72, 3), 48, 72, options);
    int refused = 0;
    for (int round = 0; round < 1500; ++round) {
      Bytes broken = bytes;
      for (unsigned i = 0; i <= random() % 4; ++i)
        broken[random() % broken.size()] ^= static_cast<std::uint8_t>(1 + random() % 255);
      ReadOptions options_small;
      options_small.limits.max_pixels = 1 << 20;
      try {
        Image image = decode(broken, options_small);
        EXPECT_EQ(image.pixels.bytes(), image.height() * image.width() * image.channels());
      } catch (const Error&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, 500);
  }
}

}  // namespace
}  // namespace fuseline::test
