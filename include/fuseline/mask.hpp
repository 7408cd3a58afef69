// Mask: which pixels of a picture are brighter than a threshold, and how many they are.
#pragma once

#include <string_view>

#include "fuseline/graph.hpp"
#include "fuseline/ops.hpp"

namespace fuseline {

struct MaskSettings {
  GrayMode gray = GrayMode::bt601_q15;
  int threshold = 127;    // 0 to 255; a pixel is set where its gray value is above
  bool invert = false;    // set where it is not above
  bool with_mask = true;  // false: only the area is wanted
  int channels = 3;       // of the picture: 1 gray, 3 RGB, 4 RGBA (alpha is ignored)
};

// Input "frame": u8 [H,W,channels]. Outputs: "mask", u8 [H,W], 255 where a pixel is set and else 0
// (unless declined), and "area", i64, the number of set pixels. Another threshold or size needs no
// other kernel. Throws Error for settings outside their range.
Graph mask_graph(const MaskSettings& settings = {});

// "bt601_q15", "bt601_q16", "bt709"; the error of gray_mode_named lists them.
std::string_view name_of(GrayMode mode);
GrayMode gray_mode_named(std::string_view name);

}  // namespace fuseline
