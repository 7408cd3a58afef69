// Turns and mirrors decoded pixels as an EXIF orientation asks.
#pragma once

#include "fuseline/tensor.hpp"

namespace fuseline {

// Orientations 5..8 exchange width and height.
constexpr bool swaps_sides(int orientation) { return orientation >= 5; }

// A new tensor with the picture upright; `pixels` is dense u8 [H,W,C], C = 1, 3 or 4.
Tensor upright(const Tensor& pixels, int orientation);

}  // namespace fuseline
