// Makes JPEG files and decodes them with libjpeg alone, for comparison.
#pragma once

#include <cstddef>
#include <cstdio>

// jpeglib.h needs size_t and FILE declared before it.
#include <jpeglib.h>

#include "frames/support.hpp"

namespace fuseline::test {

struct JpegOptions {
  J_COLOR_SPACE color = JCS_RGB;  // of the samples given, and their number
  int samples = 3;
  int horizontal = 2;  // sampling factors of the first component
  int vertical = 2;
  bool progressive = false;
  int restart_rows = 0;
  int quality = 90;
  Bytes exif;
};

inline Bytes make_jpeg(const Bytes& pixels, int height, int width, const JpegOptions& options) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &data, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = options.samples;
  info.in_color_space = options.color;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, options.quality, TRUE);
  info.restart_in_rows = options.restart_rows;
  info.comp_info[0].h_samp_factor = options.horizontal;
  info.comp_info[0].v_samp_factor = options.vertical;
  if (options.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  if (!options.exif.empty()) {
    Bytes body = {'E', 'x', 'i', 'f', 0, 0};
    body.insert(body.end(), options.exif.begin(), options.exif.end());
    jpeg_write_marker(&info, JPEG_APP0 + 1, body.data(), static_cast<unsigned>(body.size()));
  }
  while (info.next_scanline < info.image_height) {
    auto row = const_cast<JSAMPROW>(
        pixels.data() + info.next_scanline * static_cast<std::size_t>(width * options.samples));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  Bytes bytes(data, data + size);
  std::free(data);
  return bytes;
}

// The pixels as libjpeg gives them with its default settings.
inline Bytes libjpeg_pixels(const Bytes& bytes, J_COLOR_SPACE color) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, bytes.data(), bytes.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = color;
  jpeg_start_decompress(&info);
  Bytes pixels;
  Bytes row(static_cast<std::size_t>(info.output_width) *
            static_cast<std::size_t>(info.output_components));
  while (info.output_scanline < info.output_height) {
    JSAMPROW to = row.data();
    jpeg_read_scanlines(&info, &to, 1);
    pixels.insert(pixels.end(), row.begin(), row.end());
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return pixels;
}

}  // namespace fuseline::test
