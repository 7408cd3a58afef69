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

}  // namespace
}  // namespace fuseline
