// Pixel operations against their formulas, OpenCV and Pillow.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "fuseline/ops.hpp"
#include "graph/evaluate.hpp"
#include "python.hpp"
#include "support.hpp"

namespace fuseline {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Bytes = std::vector<std::uint8_t>;

// 4096 x 4096 RGB, red changing slowest, as pixel_peers.py makes it.
Tensor all_colours() {
  Tensor colours = Tensor::allocate(DType::u8, {4096, 4096, 3});
  auto* to = colours.as<std::uint8_t>();
  for (std::uint32_t n = 0; n < 1u << 24; ++n)
    for (int shift : {16, 8, 0}) *to++ = static_cast<std::uint8_t>(n >> shift);
  return colours;
}

template <class Build>
Tensor apply_to(const std::vector<Tensor>& inputs, Build&& build) {
  Graph g;
  std::vector<Value> values;
  Inputs given;
  for (const Tensor& input : inputs) {
    given.emplace_back("in" + std::to_string(given.size()), input);
    values.push_back(g.input(given.back().first, input.dtype(),
                             Dims(input.shape().begin(), input.shape().end())));
  }
  g.output("out", build(values));
  return evaluate(g, given)[0];
}

int greatest_difference(const Tensor& ours, const Bytes& theirs) {
  EXPECT_EQ(ours.size(), static_cast<std::int64_t>(theirs.size()));
  int greatest = 0;
  for (std::size_t i = 0; i < theirs.size(); ++i)
    greatest = std::max(greatest, std::abs(ours.as<std::uint8_t>()[i] - theirs[i]));
  return greatest;
}

class PixelPeers : public PythonTest {};

TEST_F(PixelPeers, gray_of_all_colours_is_that_of_opencv_and_pillow) {
  run("pixel_peers.py", "gray");
  Tensor colours = all_colours();
  auto difference = [&](GrayMode mode, const char* file) {
    Tensor ours = apply_to({colours}, [&](auto& v) { return gray(v[0], mode); });
    return greatest_difference(ours, bytes(file));
  };
  EXPECT_EQ(difference(GrayMode::bt601_q15, "bt601_q15.raw"), 0);
  EXPECT_EQ(difference(GrayMode::bt601_q16, "bt601_q16.raw"), 0);
  // 16-bit coefficients against exact ones: only colours next to a tie may differ.
  EXPECT_LE(difference(GrayMode::bt709, "bt709.raw"), 1);
}

TEST_F(PixelPeers, hsv_of_all_colours_is_that_of_opencv) {
  run("pixel_peers.py", "hsv");
  Tensor ours = apply_to({all_colours()}, [](auto& v) { return rgb_to_hsv(v[0]); });
  EXPECT_EQ(greatest_difference(ours, bytes("hsv.raw")), 0);
}

TEST_F(PixelPeers, nv12_is_that_of_opencv_up_to_its_fixed_point) {
  run("pixel_peers.py", "nv12");
  Bytes y = bytes("y.raw"), uv = bytes("uv.raw");
  Tensor ours = apply_to(
      {Tensor::of(y.data(), {64, 96}), Tensor::of(uv.data(), {32, 48, 2})},
      [](auto& v) { return nv12_to_rgb(v[0], v[1], YuvMatrix::bt601, YuvRange::limited); });
  // OpenCV rounds its coefficients (1.164, 1.596, ...) to three digits before the shift.
  EXPECT_LE(greatest_difference(ours, bytes("rgb.raw")), 1);
}

TEST_F(PixelPeers, resize_is_that_of_opencv_within_one) {
  run("pixel_peers.py", "resize");
  Bytes picture = bytes("picture.raw");
  Tensor x = Tensor::of(picture.data(), {37, 53, 3});
  for (auto [h, w] : {std::pair{37, 53}, {74, 106}, {19, 27}, {100, 11}, {1, 1}}) {
    std::string size = "_" + std::to_string(h) + "_" + std::to_string(w) + ".raw";
    auto resized = [&](ResizeMode mode, const char* coordinates) {
      return apply_to({x}, [&](auto& v) { return resize(v[0], h, w, mode, coordinates); });
    };
    // OpenCV's linear weights have 11 bits; its nearest takes floor(i * scale).
    EXPECT_LE(
        greatest_difference(resized(ResizeMode::linear, "half_pixel"), bytes("linear" + size)), 1)
        << size;
    EXPECT_EQ(
        greatest_difference(resized(ResizeMode::nearest, "asymmetric"), bytes("nearest" + size)), 0)
        << size;
  }
}

TEST(Pixels, gray_of_known_colours) {
  auto rgba =
      tensor<std::uint8_t>({4, 4}, {255, 255, 255, 0, 255, 0, 0, 9, 0, 255, 0, 9, 0, 0, 255, 9});
  auto of = [&](GrayMode mode) {
    return elements<std::uint8_t>(apply_to({rgba}, [&](auto& v) { return gray(v[0], mode); }));
  };
  EXPECT_THAT(of(GrayMode::bt601_q15), ElementsAre(255, 76, 150, 29));
  EXPECT_THAT(of(GrayMode::bt601_q16), ElementsAre(255, 76, 150, 29));
  EXPECT_THAT(of(GrayMode::bt709), ElementsAre(255, 54, 182, 18));
}

TEST(Pixels, hsv_of_known_colours) {
  auto rgb =
      tensor<std::uint8_t>({5, 3}, {255, 0, 0, 0, 255, 0, 0, 0, 255, 128, 128, 128, 0, 0, 0});
  EXPECT_THAT(elements<std::uint8_t>(apply_to({rgb}, [](auto& v) { return rgb_to_hsv(v[0]); })),
              ElementsAre(0, 255, 255, 60, 255, 255, 120, 255, 255, 0, 0, 128, 0, 0, 0));
}

TEST(Pixels, nv12_corners_of_the_ranges) {
  auto y = tensor<std::uint8_t>({1, 3}, {16, 235, 126});
  auto uv = tensor<std::uint8_t>({1, 2, 2}, {128, 128, 90, 240});
  auto of = [&](YuvMatrix matrix, YuvRange range) {
    return elements<std::uint8_t>(
        apply_to({y, uv}, [&](auto& v) { return nv12_to_rgb(v[0], v[1], matrix, range); }));
  };
  EXPECT_THAT(of(YuvMatrix::bt601, YuvRange::limited),
              ElementsAre(0, 0, 0, 255, 255, 255, 255, 52, 51));
  EXPECT_THAT(of(YuvMatrix::bt709, YuvRange::full),
              ElementsAre(16, 16, 16, 235, 235, 235, 255, 81, 55));
}

TEST(Pixels, threshold_and_range_tests) {
  auto x = tensor<std::uint8_t>({2, 3}, {10, 20, 30, 11, 21, 31});
  EXPECT_THAT(
      elements<std::uint8_t>(apply_to({x}, [](auto& v) { return threshold(v[0], 20, 255); })),
      ElementsAre(0, 0, 255, 0, 255, 255));
  auto inside = apply_to({x}, [](auto& v) { return in_range(v[0], {10, 20, 30}, {10, 25, 255}); });
  EXPECT_THAT(elements<bool>(inside), ElementsAre(true, false));
}

TEST(Pixels, wrong_operands_are_named) {
  Graph g;
  Value wrong = g.input("x", DType::f32, {4, 4, 3});
  Value narrow = g.input("y", DType::u8, {4, 4, 2});
  EXPECT_THAT(error_of([&] { gray(wrong); }), HasSubstr("gray: operand f32 [4, 4, 3]; u8"));
  EXPECT_THAT(error_of([&] { rgb_to_hsv(narrow); }), HasSubstr("last axis of 3 (RGB) or 4"));
  EXPECT_THAT(error_of([&] { resize(narrow, 2, 2, ResizeMode::linear, "cubic"); }),
              HasSubstr("use half_pixel, asymmetric or align_corners"));
  EXPECT_THAT(error_of([&] { in_range(narrow, {1}, {2}); }),
              HasSubstr("in_range: 1 low and 1 high"));
}

}  // namespace
}  // namespace fuseline
