// Makes PNG files with libpng, whatever the colour type, depth and interlacing.
#pragma once

#include <png.h>

#include "frames/support.hpp"

namespace fuseline::test {

struct PngOptions {
  int color_type = PNG_COLOR_TYPE_RGB;
  int depth = 8;
  bool interlaced = false;
  Bytes palette;              // RGB triples
  Bytes transparent_entries;  // alpha of the first palette entries
  int transparent_gray = -1;
  Bytes exif;
};

// `rows`: the file's own rows, packed as PNG packs them.
inline Bytes make_png(const Bytes& rows, int height, int width, const PngOptions& options) {
  Bytes bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &bytes,
      [](png_structp p, png_bytep data, std::size_t size) {
        auto& to = *static_cast<Bytes*>(png_get_io_ptr(p));
        to.insert(to.end(), data, data + size);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height),
               options.depth, options.color_type,
               options.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  std::vector<png_color> colors;
  for (std::size_t i = 0; i + 2 < options.palette.size(); i += 3)
    colors.push_back({options.palette[i], options.palette[i + 1], options.palette[i + 2]});
  if (!colors.empty()) png_set_PLTE(png, info, colors.data(), static_cast<int>(colors.size()));
  if (!options.transparent_entries.empty())
    png_set_tRNS(png, info, options.transparent_entries.data(),
                 static_cast<int>(options.transparent_entries.size()), nullptr);
  if (options.transparent_gray >= 0) {
    png_color_16 color{};
    color.gray = static_cast<png_uint_16>(options.transparent_gray);
    png_set_tRNS(png, info, nullptr, 0, &color);
  }
  if (!options.exif.empty())
    png_set_eXIf_1(png, info, static_cast<png_uint_32>(options.exif.size()),
                   const_cast<png_bytep>(options.exif.data()));
  png_write_info(png, info);
  std::size_t row_bytes = png_get_rowbytes(png, info);
  std::vector<png_bytep> pointers;
  for (int y = 0; y < height; ++y)
    pointers.push_back(const_cast<png_bytep>(rows.data()) +
                       static_cast<std::size_t>(y) * row_bytes);
  png_write_image(png, pointers.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

}  // namespace fuseline::test
