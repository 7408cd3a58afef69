// Conversion between ONNX's element types, the 8-bit floats included.
#pragma once

#include <string_view>

#include "onnx/context.hpp"

namespace fuseline::onnx {

// The operand as `type`. `saturate`: what exceeds an 8-bit float becomes its largest number, not
// infinity or NaN. `round_mode` is for float8e8m0: up, down or nearest.
Value convert_type(const Operand& x, int type, bool saturate, std::string_view round_mode);

}  // namespace fuseline::onnx
