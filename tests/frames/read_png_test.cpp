// PNG: every colour type and depth, orientation, what is refused, and damage.
#include <gmock/gmock.h>
#include <zlib.h>

#include <map>

#include "frames/png_support.hpp"

namespace fuseline::test {
namespace {

using testing::HasSubstr;

const std::vector<std::pair<int, int>> sizes = {{1, 1}, {1, 9}, {13, 1}, {5, 7}, {64, 65}};

TEST(ReadPng, EightBitSamplesComeUnchanged) {
  const std::map<int, int> samples_of = {
      {PNG_COLOR_TYPE_GRAY, 1}, {PNG_COLOR_TYPE_RGB, 3}, {PNG_COLOR_TYPE_RGB_ALPHA, 4}};
  for (auto [color_type, samples] : samples_of)
    for (auto [height, width] : sizes)
      for (bool interlaced : {false, true}) {
        PngOptions options;
        options.color_type = color_type;
        options.interlaced = interlaced;
        Bytes pixels = noise(static_cast<std::size_t>(height * width * samples));
        Image image = decode(make_png(pixels, height, width, options));
        EXPECT_EQ(image.format, ImageFormat::png);
        EXPECT_EQ(image.pixels.shape(), (Shape{height, width, samples}));
        EXPECT_EQ(bytes_of(image.pixels), pixels);
      }
}

TEST(ReadPng, GrayWithAlphaBecomesRgba) {
  PngOptions options;
  options.color_type = PNG_COLOR_TYPE_GRAY_ALPHA;
  Bytes pixels = noise(6 * 7 * 2), expected;
  for (std::size_t i = 0; i < pixels.size(); i += 2)
    expected.insert(expected.end(), {pixels[i], pixels[i], pixels[i], pixels[i + 1]});
  EXPECT_EQ(bytes_of(decode(make_png(pixels, 6, 7, options)).pixels), expected);
}

int packed_sample(const Bytes& rows, int width, int depth, int y, int x) {
  int row_bytes = (width * depth + 7) / 8;
  int byte = rows[static_cast<std::size_t>(y * row_bytes + x * depth / 8)];
  return byte >> (8 - depth - x * depth % 8) & ((1 << depth) - 1);
}

TEST(ReadPng, FewBitsAreExpandedAndPalettesLookedUp) {
  for (int depth : {1, 2, 4, 8})
    for (auto [height, width] : sizes)
      for (bool interlaced : {false, true})
        for (bool transparent : {false, true})
          for (bool palette : {false, true}) {
            const int levels = 1 << depth;
            PngOptions options;
            options.color_type = palette ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_GRAY;
            options.depth = depth;
            options.interlaced = interlaced;
            if (palette) options.palette = noise(static_cast<std::size_t>(3 * levels), 5);
            if (palette && transparent)
              options.transparent_entries = noise(static_cast<std::size_t>(levels / 2), 6);
            if (!palette && transparent) options.transparent_gray = levels - 1;
            Bytes rows = noise(static_cast<std::size_t>(height * ((width * depth + 7) / 8)), 3);
            Bytes expected;
            for (int y = 0; y < height; ++y)
              for (int x = 0; x < width; ++x) {
                int sample = packed_sample(rows, width, depth, y, x);
                auto at = static_cast<std::size_t>(sample);
                auto gray = static_cast<std::uint8_t>(sample * 255 / (levels - 1));
                Bytes rgb = palette ? Bytes{options.palette[3 * at], options.palette[3 * at + 1],
                                            options.palette[3 * at + 2]}
                                    : Bytes{gray, gray, gray};
                bool clear = sample == options.transparent_gray;
                std::uint8_t alpha = clear ? 0 : 255;
                if (at < options.transparent_entries.size())
                  alpha = options.transparent_entries[at];
                if (palette || transparent)
                  expected.insert(expected.end(), rgb.begin(), rgb.end());
                else
                  expected.push_back(gray);
                if (transparent) expected.push_back(alpha);
              }
            EXPECT_EQ(bytes_of(decode(make_png(rows, height, width, options)).pixels), expected)
                << "depth " << depth << (palette ? " palette" : " gray")
                << (transparent ? " transparent " : " ") << height << "x" << width;
          }
}

TEST(ReadPng, EveryOrientationAlsoBehindThePixels) {
  const int height = 66, width = 5;
  Bytes pixels = noise(height * width * 4);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    PngOptions options;
    options.color_type = PNG_COLOR_TYPE_RGB_ALPHA;
    Bytes plain = make_png(pixels, height, width, options);
    options.exif = exif_block(orientation, orientation % 3 == 0);
    Bytes front = make_png(pixels, height, width, options);
    Image image = decode(front);
    EXPECT_EQ(image.orientation, orientation);
    EXPECT_EQ(bytes_of(image.pixels), shown(pixels, height, width, 4, orientation));
    // The same chunk, moved between the pixels and IEND.
    const std::string type = "eXIf";
    auto chunk = std::search(front.begin(), front.end(), type.begin(), type.end()) - 4;
    Bytes behind = plain;
    behind.insert(behind.end() - 12, chunk,
                  chunk + 12 + static_cast<std::ptrdiff_t>(options.exif.size()));
    EXPECT_EQ(bytes_of(decode(behind).pixels), bytes_of(image.pixels));
  }
}

TEST(ReadPng, RefusesSixteenBitsByName) {
  for (int color_type : {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_RGB}) {
    PngOptions options;
    options.color_type = color_type;
    options.depth = 16;
    Bytes bytes = make_png(noise(4 * 4 * 6), 4, 4, options);
    EXPECT_THAT(error_of([&] { decode(bytes); }), HasSubstr("not supported yet: 16-bit PNG"));
  }
}

void set_size(Bytes& png, std::uint32_t width, std::uint32_t height) {
  for (int i = 0; i < 4; ++i) {
    png[static_cast<std::size_t>(16 + i)] = static_cast<std::uint8_t>(width >> (24 - 8 * i));
    png[static_cast<std::size_t>(20 + i)] = static_cast<std::uint8_t>(height >> (24 - 8 * i));
  }
  auto crc = static_cast<std::uint32_t>(crc32(0, png.data() + 12, 17));
  for (int i = 0; i < 4; ++i)
    png[static_cast<std::size_t>(29 + i)] = static_cast<std::uint8_t>(crc >> (24 - 8 * i));
}

TEST(ReadPng, DeclaredSizeIsCheckedBeforeMemoryIsTaken) {
  Bytes bytes = make_png(noise(4 * 4 * 3), 4, 4, {});
  set_size(bytes, 0x7fffffff, 0x7fffffff);
  EXPECT_THAT(error_of([&] { decode(bytes); }), HasSubstr("limit"));
  set_size(bytes, 40000, 25001);
  EXPECT_THAT(error_of([&] { decode(bytes); }),
              HasSubstr("40000 x 25001 pixels are above the limit of 1000000000 pixels"));
  set_size(bytes, 40, 40);
  EXPECT_THAT(error_of([&] { decode(bytes); }), HasSubstr("damaged PNG"));
}

TEST(ReadPng, EveryTruncationIsAnError) {
  for (bool interlaced : {false, true}) {
    PngOptions options;
    options.interlaced = interlaced;
    options.exif = exif_block(6, false);
    Bytes bytes = make_png(gradient(20, 30, 3), 20, 30, options);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
      std::string message = error_of([&] { decode(cut); });
      if (length > 8) {
        EXPECT_THAT(message, HasSubstr("truncated PNG"));
      }
    }
  }
}

TEST(ReadPng, EveryFlippedByteOfAPlainFileIsAnError) {
  const Bytes bytes = make_png(gradient(12, 15, 3), 12, 15, {});
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (int bit : {0, 3, 5, 7}) {
      Bytes broken = bytes;
      broken[i] ^= static_cast<std::uint8_t>(1 << bit);
      SCOPED_TRACE("byte " + std::to_string(i));
      error_of([&] { decode(broken); });
    }
}

// The pixel data with `flip` applied to byte `at`, and the chunk's checksum made right again.
Bytes with_flipped_data(const Bytes& bytes, std::size_t at, std::uint8_t flip) {
  const std::string type = "IDAT";
  auto start = static_cast<std::size_t>(
      std::search(bytes.begin(), bytes.end(), type.begin(), type.end()) - bytes.begin());
  std::size_t length = std::size_t{bytes[start - 2]} << 8 | bytes[start - 1];
  if (at >= length) return {};
  Bytes broken = bytes;
  broken[start + 4 + at] ^= flip;
  auto crc =
      static_cast<std::uint32_t>(crc32(0, broken.data() + start, static_cast<uInt>(length + 4)));
  for (std::size_t b = 0; b < 4; ++b)
    broken[start + 4 + length + b] = static_cast<std::uint8_t>(crc >> (24 - 8 * b));
  return broken;
}

// The stream has a checksum of its own: whatever changes a pixel is noticed.
TEST(ReadPng, BrokenCompressedDataAreErrors) {
  for (bool interlaced : {false, true}) {
    PngOptions options;
    options.interlaced = interlaced;
    const Bytes pixels = gradient(12, 15, 3);
    const Bytes bytes = make_png(pixels, 12, 15, options);
    int refused = 0;
    std::size_t at = 0;
    for (Bytes broken = bytes; !broken.empty(); ++at)
      for (std::uint8_t flip : {0x01, 0x10, 0xff}) {
        broken = with_flipped_data(bytes, at, flip);
        if (broken.empty()) break;
        try {
          EXPECT_TRUE(bytes_of(decode(broken).pixels) == pixels) << "byte " << at;
        } catch (const Error&) {
          ++refused;
        }
      }
    EXPECT_GT(refused, 800);
  }
}

}  // namespace
}  // namespace fuseline::test
