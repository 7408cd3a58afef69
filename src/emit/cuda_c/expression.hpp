// Scalar expressions of CUDA C: the text of one lane of one Loop IR instruction.
#pragma once

#include <string>
#include <vector>

#include "fuse/loop_ir.hpp"

namespace fuseline::cuda_c {

// The name of a type in registers, and of an element in memory (bool is a byte there).
std::string_view register_name(DType type);
std::string_view memory_name(DType type);

// A constant, exact to the bit.
std::string literal(DType type, std::uint64_t bits);

// compute, select, cast, bitcast and round_to; `args` are the operands' texts and `operand` the
// type of the last one.
std::string expression(const loop::Inst& inst, const std::vector<std::string>& args, DType operand);
// fn(a, b) for two values of one type.
std::string binary(Intrinsic fn, DType type, const std::string& a, const std::string& b);

// Between an element in memory and a value in a register.
std::string from_memory(DType memory, const std::string& text);
std::string to_memory(DType memory, const std::string& text);

}  // namespace fuseline::cuda_c
