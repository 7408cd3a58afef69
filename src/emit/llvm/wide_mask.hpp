// WideMask: the truth of many lanes as 32-bit masks, as AVX2 compares 32-bit lanes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "emit/llvm/ir.hpp"

namespace fuseline::emit {

// Conditions on 32-bit lanes are combined in this form and packed to one bit a lane once, in the
// order that costs a single lane-crossing shuffle; LLVM packs each of them, with three.
struct WideMask {
  std::vector<Value> parts;  // 8 lanes of i32 each, 0 or -1
  bool inverted = false;     // a lane is true where its mask is 0
};

// Whether the processor and the number of lanes make this form worth while.
bool suits_wide_mask(const Ir& ir, int lanes);

// A comparison of 32-bit operands. `positive`: unsigned operands are below 2^31.
WideMask compare_wide(Ir& ir, Intrinsic fn, DType operand, bool positive, Value a, Value b);
// bit_and, bit_or, bit_xor or bit_not.
WideMask combine_wide(Ir& ir, Intrinsic fn, std::span<const WideMask* const> operands);
// One i1 a lane.
Value pack(Ir& ir, const WideMask& mask);

}  // namespace fuseline::emit
