// An image whose channels stand in blocks, and the way there and back.
#pragma once

#include "fuseline/ops.hpp"

namespace fuseline {

struct BlockedImage {
  Value value;  // [N, blocks, places..., block, extra...]
  std::int64_t block = 1;
  std::int64_t channels = 1;
  bool clean = true;  // lanes without a channel hold zeros, or there are none
  int extra = 0;      // axes of a window's kernel, behind the lanes
};

BlockedImage to_blocks(const Value& plain, std::int64_t block);
Value to_plain(const BlockedImage& image);
// The same with zeros in lanes without a channel.
BlockedImage cleaned(const BlockedImage& image);
// An operand that broadcasts against [N, C, places...] of `rank` axes, against the blocked form.
Value broadcast_operand(const Value& plain, std::size_t rank, std::int64_t channels,
                        std::int64_t block);

}  // namespace fuseline
