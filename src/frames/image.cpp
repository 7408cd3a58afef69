// Pictures into tensors: tell the format by content, check the size, decode, turn upright.
#include "fuseline/image.hpp"

#include "base/fail.hpp"
#include "frames/decode/decoder.hpp"
#include "frames/decode/orient.hpp"
#include "frames/decode/sniff.hpp"
#include "base/path_text.hpp"

namespace fuseline {
namespace {

struct OpenedImage {
  std::unique_ptr<Decoder> decoder;
  ImageFormat format;
  StoredSize size;
};

OpenedImage open_image(ByteSource& bytes, const std::string& name, const ReadOptions& options) {
  std::string_view format = sniff(bytes.beginning());
  if (bytes.beginning().empty()) fail("{}: empty: it holds no bytes", name);
  if (format.empty()) fail("{}: not a picture: neither JPEG nor PNG", name);
  OpenedImage opened;
  if (format == "JPEG")
    opened = {open_jpeg(bytes, name), ImageFormat::jpeg, {}};
  else if (format == "PNG")
    opened = {open_png(bytes, name), ImageFormat::png, {}};
  else
    fail("{}: not supported yet: {}", name, format);
  StoredSize size = opened.size = opened.decoder->read_header();
  // Both sides are below 2^31.
  if (size.width * size.height > options.limits.max_pixels)
    fail("{}: {} x {} pixels are above the limit of {} pixels", name, size.width, size.height,
         options.limits.max_pixels);
  return opened;
}

Image decode(ByteSource& bytes, const std::string& name, const ReadOptions& options) {
  OpenedImage opened = open_image(bytes, name, options);
  const StoredSize& size = opened.size;
  Image image;
  image.pixels = Tensor::allocate(DType::u8, {size.height, size.width, size.channels});
  image.format = opened.format;
  opened.decoder->read_pixels(image.pixels.as<std::uint8_t>());
  image.orientation = opened.decoder->orientation();
  if (options.apply_orientation && image.orientation != 1)
    image.pixels = upright(image.pixels, image.orientation);
  return image;
}

ImageInfo probe(ByteSource& bytes, const std::string& name, const ReadOptions& options) {
  OpenedImage opened = open_image(bytes, name, options);
  ImageInfo info;
  info.format = opened.format;
  info.width = opened.size.width;
  info.height = opened.size.height;
  info.channels = opened.size.channels;
  info.orientation = opened.decoder->orientation();
  if (options.apply_orientation && swaps_sides(info.orientation))
    std::swap(info.width, info.height);
  return info;
}

}  // namespace

std::string_view name_of(ImageFormat format) {
  return format == ImageFormat::jpeg ? "JPEG" : "PNG";
}

Image read_image(const std::filesystem::path& path, const ReadOptions& options) {
  ByteSource bytes(path);
  return decode(bytes, path_text(path), options);
}

ImageInfo probe_image(const std::filesystem::path& path, const ReadOptions& options) {
  ByteSource bytes(path);
  return probe(bytes, path_text(path), options);
}

Image decode_image(std::span<const std::byte> data, const ReadOptions& options,
                   const std::string& name) {
  ByteSource bytes(data);
  return decode(bytes, name, options);
}

ImageInfo probe_image(std::span<const std::byte> data, const ReadOptions& options,
                      const std::string& name) {
  ByteSource bytes(data);
  return probe(bytes, name, options);
}

}  // namespace fuseline
