// The mask graph: its definition against plain loops, on the oracle and compiled.
#include "fuseline/mask.hpp"

#include <gmock/gmock.h>

#include <random>

#include "fuseline/error.hpp"
#include "fuseline/program.hpp"

namespace fuseline {
namespace {

struct Expected {
  std::vector<std::uint8_t> mask;
  std::int64_t area = 0;
};

int level_of(const std::uint8_t* pixel, const MaskSettings& settings) {
  if (settings.channels == 1) return pixel[0];
  switch (settings.gray) {
    case GrayMode::bt601_q15:
      return (9798 * pixel[0] + 19235 * pixel[1] + 3735 * pixel[2] + (1 << 14)) >> 15;
    case GrayMode::bt601_q16:
      return (19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2] + (1 << 15)) >> 16;
    case GrayMode::bt709:
      return (13933 * pixel[0] + 46871 * pixel[1] + 4732 * pixel[2] + (1 << 15)) >> 16;
  }
  return -1;
}

Expected expect(const Tensor& frame, const MaskSettings& settings) {
  Expected expected;
  auto pixels = frame.as<const std::uint8_t>();
  for (std::int64_t i = 0; i < frame.shape()[0] * frame.shape()[1]; ++i) {
    bool set = level_of(pixels + i * settings.channels, settings) > settings.threshold;
    if (settings.invert) set = !set;
    expected.mask.push_back(set ? 255 : 0);
    expected.area += set;
  }
  return expected;
}

Tensor noise(std::int64_t height, std::int64_t width, int channels) {
  Tensor frame = Tensor::allocate(DType::u8, {height, width, channels});
  std::mt19937 random(7);
  for (std::int64_t i = 0; i < frame.size(); ++i)
    frame.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(random());
  return frame;
}

void compare(const std::vector<Tensor>& outputs, const Expected& expected, bool with_mask) {
  ASSERT_EQ(outputs.size(), with_mask ? 2u : 1u);
  EXPECT_EQ(*outputs.back().as<std::int64_t>(), expected.area);
  if (!with_mask) return;
  auto mask = outputs[0].as<std::uint8_t>();
  EXPECT_EQ(std::vector<std::uint8_t>(mask, mask + outputs[0].size()), expected.mask);
}

TEST(MaskGraph, MeansWhatItSays) {
  for (int channels : {1, 3, 4})
    for (GrayMode mode : {GrayMode::bt601_q15, GrayMode::bt601_q16, GrayMode::bt709})
      for (bool invert : {false, true})
        for (bool with_mask : {true, false}) {
          MaskSettings settings{mode, 100, invert, with_mask, channels};
          Tensor frame = noise(5, 37, channels);
          Graph graph = mask_graph(settings);
          Expected expected = expect(frame, settings);
          compare(evaluate(graph, {{"frame", frame}}), expected, with_mask);
          compare(compile(graph).run({{"frame", frame}}), expected, with_mask);
        }
}

TEST(MaskGraph, OneProgramServesEverySize) {
  MaskSettings settings;
  Program program = compile(mask_graph(settings));
  for (std::int64_t height : {1, 3, 64})
    for (std::int64_t width : {1, 47, 200}) {
      Tensor frame = noise(height, width, 3);
      compare(program.run({{"frame", frame}}), expect(frame, settings), true);
    }
  EXPECT_EQ(program.stats().kernels, 1);
}

TEST(MaskGraph, EmptyPictureHasNoArea) {
  Tensor frame = Tensor::allocate(DType::u8, {0, 5, 3});
  compare(compile(mask_graph()).run({{"frame", frame}}), {}, true);
}

TEST(MaskGraph, RefusesSettingsOutsideTheirRange) {
  EXPECT_THROW(mask_graph({.threshold = 256}), Error);
  EXPECT_THROW(mask_graph({.threshold = -1}), Error);
  EXPECT_THROW(mask_graph({.channels = 2}), Error);
}

TEST(MaskGraph, GrayModesHaveNames) {
  for (GrayMode mode : {GrayMode::bt601_q15, GrayMode::bt601_q16, GrayMode::bt709})
    EXPECT_EQ(gray_mode_named(name_of(mode)), mode);
  EXPECT_THROW(gray_mode_named("bt602"), Error);
}

}  // namespace
}  // namespace fuseline
