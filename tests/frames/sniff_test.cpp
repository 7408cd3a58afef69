// Formats told by content.
#include "frames/decode/sniff.hpp"

#include <gmock/gmock.h>

#include "frames/support.hpp"

namespace fuseline::test {
namespace {

using namespace std::string_view_literals;

struct Case {
  std::string_view beginning;
  std::string_view name;
};

const std::vector<Case> cases = {
    {"\xff\xd8\xff\xe0\0\x10JFIF"sv, "JPEG"},
    {"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"sv, "PNG"},
    {"GIF89a\x10\0\x10\0"sv, "GIF"},
    {"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0"sv, "BMP"},
    {"II*\0\x08\0\0\0"sv, "TIFF"},
    {"MM\0*\0\0\0\x08"sv, "TIFF"},
    {"RIFF\x24\0\0\0WEBPVP8 "sv, "WebP"},
    {"\0\0\0\x1c"
     "ftypavif\0\0\0\0"sv,
     "AVIF"},
    {"\0\0\0\x18"
     "ftypheic\0\0\0\0"sv,
     "HEIC"},
    {"\xff\x0a\x01\x02"sv, "JPEG XL"},
    {"\0\0\0\x0cJXL \r\n\x87\n"sv, "JPEG XL"},
    {"\0\0\0\x0cjP  \r\n\x87\n"sv, "JPEG 2000"},
};

std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(Sniff, KnownFormats) {
  for (const Case& c : cases) EXPECT_EQ(sniff(as_bytes(c.beginning)), c.name);
}

TEST(Sniff, NothingElse) {
  for (std::string_view text : {""sv, "B"sv, "BMW drives to the sea"sv, "RIFF\x24\0\0\0WAVEfmt "sv,
                                "\x89PN"sv, "\xff\xd8"sv, "%PDF-1.7"sv,
                                "\0\0\0\x18"
                                "ftypmp42"sv})
    EXPECT_EQ(sniff(as_bytes(text)), "");
}

TEST(Sniff, UnsupportedFormatsAreNamed) {
  for (const Case& c : cases) {
    if (c.name == "JPEG" || c.name == "PNG") continue;
    Bytes bytes(as_bytes(c.beginning).begin(), as_bytes(c.beginning).end());
    EXPECT_EQ(error_of([&] { decode(bytes); }),
              "picture in memory: not supported yet: " + std::string(c.name));
  }
}

}  // namespace
}  // namespace fuseline::test
