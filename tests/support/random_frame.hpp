// A random RGB frame, and what the mask pipeline makes of it.
#pragma once

#include <cstdint>
#include <vector>

#include "fuseline/tensor.hpp"

namespace fuseline {

struct RandomFrame {
  std::vector<std::uint8_t> pixels;
  std::int64_t height, width;

  RandomFrame(std::int64_t h, std::int64_t w, unsigned seed)
      : pixels(static_cast<std::size_t>(h * w * 3)), height(h), width(w) {
    for (auto& byte : pixels)
      byte = static_cast<std::uint8_t>((seed = seed * 1664525u + 1013904223u) >> 24);
  }
  Tensor tensor() { return Tensor::of(pixels.data(), {height, width, 3}); }

  std::vector<std::uint8_t> mask(int limit) const {
    std::vector<std::uint8_t> mask;
    for (std::size_t p = 0; p < pixels.size(); p += 3) {
      int gray = (9798 * pixels[p] + 19235 * pixels[p + 1] + 3735 * pixels[p + 2] + 16384) >> 15;
      mask.push_back(gray > limit ? 255 : 0);
    }
    return mask;
  }
  std::int64_t area(int limit) const {
    std::int64_t sum = 0;
    for (std::uint8_t pixel : mask(limit)) sum += pixel == 255;
    return sum;
  }
};

}  // namespace fuseline
