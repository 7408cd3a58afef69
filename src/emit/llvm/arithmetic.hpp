// Scalar intrinsics, comparisons and casts of Loop IR as LLVM instructions, for any lanes.
#pragma once

#include <span>

#include "emit/llvm/ir.hpp"

namespace fuseline::emit {

// `operand` is the type of the arguments.
Value emit_compute(Ir& ir, Intrinsic fn, loop::Type operand, std::span<const Value> args);
Value emit_cast(Ir& ir, Value value, loop::Type from, loop::Type to, loop::CastMode mode);

}  // namespace fuseline::emit
