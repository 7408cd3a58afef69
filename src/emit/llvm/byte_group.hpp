// ByteGroup: interleaved u8 channels held so that one byte shuffle widens any channels to 32 bits.
#pragma once

#include <vector>

#include "emit/llvm/ir.hpp"

namespace fuseline::emit {

// Each 16-byte part of a register holds the bytes of 4 pixels, wherever in the part they start;
// a shuffle within the parts (vpshufb) then puts one or two channels into the 32-bit lanes. That
// is half the work of separating the channels and widening them.
class ByteGroup {
 public:
  static bool suits(int channels, int lanes);

  // `pointer` is an i8 pointer to the first byte; nothing beyond the last pixel is read.
  ByteGroup(Ir& ir, Value pointer, int channels, int lanes);

  // i32 lanes: channel `low`, plus channel `high` shifted left by 16 (-1: none).
  Value words(Ir& ir, int low, int high = -1) const;
  int lanes() const { return lanes_; }

 private:
  void load_pair(Ir& ir, Value pointer, int index, std::vector<Value>& pieces);
  Value load_bytes(Ir& ir, Value pointer, int offset, int bytes);

  int channels_, lanes_;
  int parts_in_register_;
  std::vector<Value> registers_;
  std::vector<int> shifts_;  // of each part: bytes before its first pixel
};

}  // namespace fuseline::emit
