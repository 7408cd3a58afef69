// The eight orientations as one walk: where the first pixel of the result lies, and two steps.
#include "frames/decode/orient.hpp"

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"

namespace fuseline {
namespace {

// Offsets in pixels of the stored picture.
struct Walk {
  std::int64_t start;
  std::int64_t down;   // to the next row of the result
  std::int64_t right;  // to the next pixel of the result
};

Walk walk_for(int orientation, std::int64_t height, std::int64_t width) {
  std::int64_t last_row = (height - 1) * width;
  std::int64_t last_column = width - 1;
  switch (orientation) {
    case 2:
      return {last_column, width, -1};
    case 3:
      return {last_row + last_column, -width, -1};
    case 4:
      return {last_row, -width, 1};
    case 5:
      return {0, 1, width};
    case 6:
      return {last_row, 1, -width};
    case 7:
      return {last_row + last_column, -1, -width};
    case 8:
      return {last_column, -1, width};
    default:
      return {0, width, 1};
  }
}

// In square tiles, because one side of a quarter turn walks across the rows.
template <int channels>
void copy_along(const std::uint8_t* from, std::uint8_t* to, Walk walk, std::int64_t height,
                std::int64_t width) {
  constexpr std::int64_t tile = 64;
  for (std::int64_t top = 0; top < height; top += tile)
    for (std::int64_t left = 0; left < width; left += tile)
      for (std::int64_t y = top; y < std::min(top + tile, height); ++y) {
        std::int64_t in = walk.start + y * walk.down + left * walk.right;
        std::int64_t out = y * width + left;
        for (std::int64_t x = left; x < std::min(left + tile, width); ++x, in += walk.right, ++out)
          std::memcpy(to + out * channels, from + in * channels, channels);
      }
}

}  // namespace

Tensor upright(const Tensor& pixels, int orientation) {
  require(pixels.dtype() == DType::u8 && pixels.shape().size() == 3 && pixels.is_dense(),
          "upright() needs dense u8 [H,W,C]");
  std::int64_t height = pixels.shape()[0], width = pixels.shape()[1];
  Walk walk = walk_for(orientation, height, width);
  if (swaps_sides(orientation)) std::swap(height, width);
  Tensor result = Tensor::allocate(DType::u8, {height, width, pixels.shape()[2]});
  auto from = pixels.as<const std::uint8_t>();
  auto to = result.as<std::uint8_t>();
  switch (pixels.shape()[2]) {
    case 1:
      copy_along<1>(from, to, walk, height, width);
      break;
    case 3:
      copy_along<3>(from, to, walk, height, width);
      break;
    case 4:
      copy_along<4>(from, to, walk, height, width);
      break;
    default:
      fail_internal("upright() needs 1, 3 or 4 channels");
  }
  return result;
}

}  // namespace fuseline
