// Re-encoding at a quarter, a half and the whole of each side, in the picture's own format.
#include "cli/diagnose_sweep.hpp"

#include <fmt/format.h>

#include <array>

#include "base/fail.hpp"
#include "base/path_text.hpp"
#include "frames/encode/write_jpeg.hpp"

namespace fuseline::cli {
namespace {

constexpr std::array divisors = {4, 2, 1};
constexpr std::int64_t least_side = 64;
constexpr int quality = 90;

// Means of squares of divisor x divisor pixels.
Tensor reduced(const Tensor& pixels, std::int64_t divisor) {
  std::int64_t channels = pixels.shape()[2];
  std::int64_t height = pixels.shape()[0] / divisor, width = pixels.shape()[1] / divisor;
  Tensor small = Tensor::allocate(DType::u8, {height, width, channels});
  auto* to = small.as<std::uint8_t>();
  const auto* from = pixels.as<const std::uint8_t>();
  std::int64_t row = pixels.strides()[0];
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (std::int64_t c = 0; c < channels; ++c) {
        std::int64_t sum = divisor * divisor / 2;
        for (std::int64_t dy = 0; dy < divisor; ++dy)
          for (std::int64_t dx = 0; dx < divisor; ++dx)
            sum += from[(y * divisor + dy) * row + (x * divisor + dx) * channels + c];
        *to++ = static_cast<std::uint8_t>(sum / (divisor * divisor));
      }
  return small;
}

}  // namespace

Sweep measure_sweep(const MaskCommand& command, BenchRunner& runner, const BenchPlan& plan) {
  Image picture = read_image(command.picture(), command.batch().read);
  if (std::min(picture.width(), picture.height()) < least_side)
    fail("the picture has {} x {} pixels; sides of {} are needed to make it smaller",
         picture.width(), picture.height(), least_side);
  bool jpeg = picture.format == ImageFormat::jpeg;
  ScratchFolder folder;
  Sweep sweep;
  sweep.format = jpeg ? fmt::format("baseline JPEG of quality {}", quality) : "PNG";
  std::vector<RunOnce> runs;
  for (int divisor : divisors) {
    Tensor pixels = reduced(picture.pixels, divisor);
    auto file = folder / fmt::format("{}.{}", divisor, jpeg ? "jpg" : "png");
    if (jpeg)
      write_jpeg(file, pixels, quality);
    else
      write_png(file, pixels);
    sweep.points.push_back({pixels.shape()[1], pixels.shape()[0], {}});
    runs.push_back(runner.runs_of(command.on(file, folder / "mask.png")));
  }
  std::vector<Series> all = measure_in_turn(runs, plan);
  for (std::size_t i = 0; i < all.size(); ++i) sweep.points[i].series = std::move(all[i]);
  return sweep;
}

}  // namespace fuseline::cli
