// JPEG through libjpeg-turbo into memory, then into a file.
#include "frames/encode/write_jpeg.hpp"

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

// jpeglib.h needs size_t and FILE declared before it.
#include <jpeglib.h>

#include "base/fail.hpp"
#include "base/output_file.hpp"
#include "base/path_text.hpp"

namespace fuseline {
namespace {

struct JpegWriter {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  std::jmp_buf escape{};
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  char message[JMSG_LENGTH_MAX] = "";
};

extern "C" {

static void on_write_error(j_common_ptr info) {
  auto& writer = *static_cast<JpegWriter*>(info->client_data);
  writer.errors.format_message(info, writer.message);
  std::longjmp(writer.escape, 1);
}

static void on_write_message(j_common_ptr) {}
}

// Guarded: holds no object with a destructor, since libjpeg leaves it by longjmp.
bool compress(JpegWriter& writer, const Tensor& pixels, int quality) {
  writer.info.err = jpeg_std_error(&writer.errors);
  writer.errors.error_exit = on_write_error;
  writer.errors.output_message = on_write_message;
  writer.info.client_data = &writer;
  if (setjmp(writer.escape)) {
    jpeg_destroy_compress(&writer.info);
    return false;
  }
  jpeg_create_compress(&writer.info);
  jpeg_mem_dest(&writer.info, &writer.bytes, &writer.size);
  writer.info.image_height = static_cast<JDIMENSION>(pixels.shape()[0]);
  writer.info.image_width = static_cast<JDIMENSION>(pixels.shape()[1]);
  writer.info.input_components = static_cast<int>(pixels.shape()[2]);
  writer.info.in_color_space = pixels.shape()[2] == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&writer.info);
  jpeg_set_quality(&writer.info, quality, TRUE);
  jpeg_start_compress(&writer.info, TRUE);
  while (writer.info.next_scanline < writer.info.image_height) {
    auto row = pixels.as<unsigned char>() + writer.info.next_scanline * pixels.strides()[0];
    jpeg_write_scanlines(&writer.info, &row, 1);
  }
  jpeg_finish_compress(&writer.info);
  jpeg_destroy_compress(&writer.info);
  return true;
}

}  // namespace

void write_jpeg(const std::filesystem::path& path, const Tensor& pixels, int quality) {
  const Shape& shape = pixels.shape();
  bool pictured = shape.size() == 3 && (shape[2] == 1 || shape[2] == 3) && shape[0] > 0 &&
                  shape[1] > 0 && shape[0] <= JPEG_MAX_DIMENSION && shape[1] <= JPEG_MAX_DIMENSION;
  if (!pictured || !pixels.is_dense() || pixels.dtype() != DType::u8)
    fail("{}: a JPEG needs a dense tensor [H,W,1] or [H,W,3] of bytes with sides up to {}, got {}",
         path_text(path), JPEG_MAX_DIMENSION, to_string(shape));
  JpegWriter writer;
  bool written = compress(writer, pixels, quality);
  std::unique_ptr<unsigned char, decltype(&std::free)> bytes(writer.bytes, std::free);
  if (!written) fail("{}: the JPEG cannot be made: {}", path_text(path), writer.message);
  OutputFile file(path);
  file.write({writer.bytes, writer.size});
  file.commit();
}

}  // namespace fuseline
