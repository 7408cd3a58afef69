// The type rules of Loop IR's arithmetic: compute, select, casts, and what changes lanes.
#pragma once

#include <span>

#include "fuse/loop_ir.hpp"

namespace fuseline::loop {

// Whether the intrinsic is defined for operands of this type.
bool accepts(Intrinsic fn, DType type);

// The rule that an instruction with operands of these types breaks; nullptr where none.
const char* type_fault(const Inst& inst, std::span<const Type> operands);

}  // namespace fuseline::loop
