// Writes a picture, reads it back and counts its bright pixels.
#include <cstdint>
#include <cstdio>

#include "fuseline/image.hpp"
#include "fuseline/mask.hpp"
#include "fuseline/program.hpp"

int main(int count, char** words) {
  if (count != 2) return 2;
  constexpr std::int64_t height = 50, width = 40, bright = 700;
  fuseline::Tensor pixels = fuseline::Tensor::allocate(fuseline::DType::u8, {height, width, 3});
  for (std::int64_t i = 0; i < pixels.size(); ++i)
    pixels.as<std::uint8_t>()[i] = i < bright * 3 ? 255 : 0;
  fuseline::write_png(words[1], pixels);
  fuseline::Image picture = fuseline::read_image(words[1]);
  fuseline::Program program = fuseline::compile(fuseline::mask_graph({.with_mask = false}));
  auto outputs = program.run({{"frame", picture.pixels}});
  auto area = *outputs.at(0).as<std::int64_t>();
  std::printf("area %lld\n", static_cast<long long>(area));
  return area == bright ? 0 : 1;
}
