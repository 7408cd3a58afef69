// Pictures in files: JPEG and PNG into tensors, tensors into PNG, and what lies in a folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuseline/tensor.hpp"

namespace fuseline {

enum class ImageFormat : std::uint8_t { jpeg, png };
// "JPEG" or "PNG"
std::string_view name_of(ImageFormat format);

// Checked against what a file declares, before any memory is taken for its pixels.
struct ImageLimits {
  std::int64_t max_pixels = 1'000'000'000;
};

struct ReadOptions {
  ImageLimits limits;
  bool apply_orientation = true;  // turn and mirror as EXIF says
};

struct Image {
  Tensor pixels;  // u8 [H,W,C]; C = 1 gray, 3 RGB, 4 RGBA (not premultiplied)
  ImageFormat format = ImageFormat::png;
  int orientation = 1;  // EXIF 1..8 as the file says; already applied unless it was declined

  std::int64_t height() const { return pixels.shape().at(0); }
  std::int64_t width() const { return pixels.shape().at(1); }
  std::int64_t channels() const { return pixels.shape().at(2); }
};

// What the header says; nothing is decoded. Width and height are those of the tensor that
// read_image() returns for the same options.
struct ImageInfo {
  ImageFormat format = ImageFormat::png;
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t channels = 0;
  int orientation = 1;
};

// 8-bit JPEG (gray, colour) and PNG (gray, gray with alpha as RGBA, RGB, RGBA, palette; 1, 2 and
// 4 bits are expanded). The content decides the format, never the name. Truncated and damaged
// data, a size above the limit and anything but a regular file throw Error, one line that begins
// with the path; a known format that is not read says "not supported yet: <format>".
Image read_image(const std::filesystem::path& path, const ReadOptions& options = {});
ImageInfo probe_image(const std::filesystem::path& path, const ReadOptions& options = {});

// The same from memory; `name` begins the messages.
Image decode_image(std::span<const std::byte> bytes, const ReadOptions& options = {},
                   const std::string& name = "picture in memory");
ImageInfo probe_image(std::span<const std::byte> bytes, const ReadOptions& options = {},
                      const std::string& name = "picture in memory");

// Writes u8 [H,W], [H,W,1], [H,W,3] or [H,W,4], strided or dense, as 8-bit PNG. The compression
// is made for speed: filters for photographs, plain runs for masks. The file appears under its
// name only when it is complete. Throws Error where it cannot be written.
void write_png(const std::filesystem::path& path, const Tensor& pixels);

// Writes a mask, u8 or bool [H,W] or [H,W,1], as 1-bit gray PNG: white where it is not zero.
void write_png_bits(const std::filesystem::path& path, const Tensor& mask);

struct ImageEntry {
  std::filesystem::path path;
  std::filesystem::path relative;  // below the given folder; the file name of a given file
  std::string problem;             // not empty: there is nothing to read here, and why
};

// The pictures that `paths` name. A file is taken as it is, read or not; a folder is walked in
// sorted order with its subfolders, each once, so that a loop of links ends. In folders a file
// is picked when its content begins as a picture, of a readable kind or not; so are empty files
// named .jpg, .jpeg or .png, and files and folders that cannot be opened, so that reading them
// tells why. Anything else is passed over. A folder without pictures becomes an entry with a
// problem; if there is nothing else at all, it is thrown as Error.
std::vector<ImageEntry> list_images(std::span<const std::filesystem::path> paths);

}  // namespace fuseline
