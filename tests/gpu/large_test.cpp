// A tensor of more than 2^31 elements: offsets of 64 bits.
#include <cstring>

#include "fuseline/program.hpp"
#include "gpu/support.hpp"
#include "support/mask_graph.hpp"

namespace fuseline::test {
namespace {

using Large = GpuTest;

// 2.2 GB of frame in device memory, black but for some pixels on both sides of 2^31 bytes.
TEST_F(Large, AMaskBeyondTwoToThe31) {
  constexpr std::int64_t width = 16384, height = 44800;
  constexpr std::int64_t pixels = width * height, bytes = 3 * pixels;
  static_assert(bytes > (std::int64_t{1} << 31));
  Device& device = open_device("cuda");
  OnDevice frame(device, static_cast<std::size_t>(bytes));
  OnDevice mask(device, static_cast<std::size_t>(pixels));
  auto queue = device.make_queue();
  queue->fill_zero(frame.data(), frame.bytes());
  const std::uint8_t white[3] = {255, 255, 255};
  constexpr std::int64_t border = (std::int64_t{1} << 31) / 3;
  const std::int64_t lit[] = {0, 1, width - 1, border - 1, border, border + 1, pixels - 1};
  for (std::int64_t pixel : lit)
    queue->upload(static_cast<char*>(frame.data()) + 3 * pixel, white, 3);
  queue->wait();

  Program program = compile(mask_graph(), {.device = "cuda"});
  Tensor in(frame.data(), DType::u8, {height, width, 3}, device.id());
  Tensor out(mask.data(), DType::u8, {height, width}, device.id());
  for (int run = 0; run < 3; ++run) {
    std::int64_t area = 0;
    program.run({{"frame", in}}, {{"mask", out}, {"area", Tensor::of(&area, {})}});
    ASSERT_EQ(area, static_cast<std::int64_t>(std::size(lit)));
  }
  std::vector<std::uint8_t> result(static_cast<std::size_t>(pixels));
  mask.download(result.data());
  for (std::int64_t pixel : lit) EXPECT_EQ(result[static_cast<std::size_t>(pixel)], 255) << pixel;
  std::size_t zeros = 0;
  for (std::uint8_t pixel : result) zeros += pixel == 0;
  EXPECT_EQ(zeros, result.size() - std::size(lit));
}

}  // namespace
}  // namespace fuseline::test
