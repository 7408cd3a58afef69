// Tensors into PNG files.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/fail.hpp"
#include "frames/encode/png_stream.hpp"
#include "frames/encode/row_filter.hpp"
#include "frames/encode/words.hpp"
#include "base/path_text.hpp"
#include "fuseline/image.hpp"

namespace fuseline {
namespace {

// Rows of a strided tensor as packed bytes.
class Rows {
 public:
  Rows(const Tensor& pixels, const std::filesystem::path& path) : pixels_(pixels) {
    const Shape& shape = pixels.shape();
    bool pictured = (shape.size() == 2 || shape.size() == 3) && shape[0] > 0 && shape[1] > 0;
    channels_ = shape.size() == 3 ? shape[2] : 1;
    if (!pictured || (channels_ != 1 && channels_ != 3 && channels_ != 4))
      fail("{}: a PNG needs a tensor [H,W] or [H,W,C] with C = 1, 3 or 4, got {}", path_text(path),
           to_string(shape));
    constexpr std::int64_t longest_side = 0x7fffffff;
    if (shape[0] > longest_side || shape[1] > longest_side)
      fail("{}: a PNG's sides are at most 2^31 - 1 pixels, got {}", path_text(path),
           to_string(shape));
    if (pixels.device().kind != DeviceKind::cpu)
      fail("{}: a PNG is written from host memory; copy the tensor there first", path_text(path));
    packed_ = (width() == 1 || pixels.strides()[1] == channels_) &&
              (channels_ == 1 || pixels.strides()[2] == 1);
    if (!packed_) scratch_.resize(row_bytes());
  }

  std::int64_t height() const { return pixels_.shape()[0]; }
  std::int64_t width() const { return pixels_.shape()[1]; }
  std::int64_t channels() const { return channels_; }
  std::size_t row_bytes() const { return static_cast<std::size_t>(width() * channels_); }

  // Valid until the next call.
  std::span<const std::uint8_t> row(std::int64_t y) {
    auto from = pixels_.as<const std::uint8_t>() + y * pixels_.strides()[0];
    if (packed_) return {from, row_bytes()};
    std::int64_t channel_stride = pixels_.shape().size() == 3 ? pixels_.strides()[2] : 0;
    std::uint8_t* to = scratch_.data();
    for (std::int64_t x = 0; x < width(); ++x)
      for (std::int64_t c = 0; c < channels_; ++c)
        *to++ = from[x * pixels_.strides()[1] + c * channel_stride];
    return scratch_;
  }

 private:
  const Tensor& pixels_;
  std::int64_t channels_ = 1;
  bool packed_ = false;
  std::vector<std::uint8_t> scratch_;
};

// Masks and label maps: few values, or mostly equal neighbours. They compress best unfiltered.
bool made_of_runs(Rows& rows) {
  if (rows.channels() != 1) return false;
  constexpr std::int64_t most_rows = 32;
  constexpr std::size_t few_values = 4;
  std::array<bool, 256> seen{};
  std::size_t equal = 0, compared = 0;
  std::int64_t step = (rows.height() + most_rows - 1) / most_rows;
  for (std::int64_t y = 0; y < rows.height(); y += step) {
    std::span<const std::uint8_t> row = rows.row(y);
    for (std::uint8_t value : row) seen[value] = true;
    for (std::size_t x = 1; x < row.size(); ++x) equal += row[x] == row[x - 1];
    compared += row.size() - 1;
  }
  auto values = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
  return values <= few_values || 4 * equal >= 3 * compared;
}

constexpr std::uint8_t no_filter = 0;

void pack_row(std::span<const std::uint8_t> samples, std::span<std::uint8_t> to) {
  const std::size_t whole = samples.size() / 8;
  for (std::size_t i = 0; i < whole; ++i)
    to[i] = nonzero_bytes_reversed(load_little(samples.data() + 8 * i));
  if (samples.size() % 8 == 0) return;
  std::array<std::uint8_t, 8> rest{};
  std::copy(samples.begin() + static_cast<std::ptrdiff_t>(8 * whole), samples.end(), rest.begin());
  to[whole] = nonzero_bytes_reversed(load_little(rest.data()));
}

}  // namespace

void write_png(const std::filesystem::path& path, const Tensor& pixels) {
  if (pixels.dtype() != DType::u8)
    fail("{}: an 8-bit PNG needs u8 pixels, got {}", path_text(path), name_of(pixels.dtype()));
  Rows rows(pixels, path);
  PngColor color = rows.channels() == 1   ? PngColor::gray
                   : rows.channels() == 3 ? PngColor::rgb
                                          : PngColor::rgba;
  PngStream png(path, rows.width(), rows.height(), 8, color);
  if (made_of_runs(rows)) {
    for (std::int64_t y = 0; y < rows.height(); ++y) {
      std::span<std::uint8_t> to = png.next_row();
      to[0] = no_filter;
      std::memcpy(to.data() + 1, rows.row(y).data(), rows.row_bytes());
    }
  } else {
    RowFilter filter(rows.row_bytes(), static_cast<std::size_t>(rows.channels()));
    for (std::int64_t y = 0; y < rows.height(); ++y) filter.filter(rows.row(y), png.next_row());
  }
  png.finish();
}

void write_png_bits(const std::filesystem::path& path, const Tensor& mask) {
  if (mask.dtype() != DType::u8 && mask.dtype() != DType::bool_)
    fail("{}: a 1-bit PNG needs a u8 or bool mask, got {}", path_text(path), name_of(mask.dtype()));
  Rows rows(mask, path);
  if (rows.channels() != 1)
    fail("{}: a 1-bit PNG needs a mask [H,W], got {}", path_text(path), to_string(mask.shape()));
  PngStream png(path, rows.width(), rows.height(), 1, PngColor::gray);
  for (std::int64_t y = 0; y < rows.height(); ++y) {
    std::span<std::uint8_t> to = png.next_row();
    to[0] = no_filter;
    pack_row(rows.row(y), to.subspan(1));
  }
  png.finish();
}

}  // namespace fuseline
