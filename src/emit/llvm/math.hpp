// Mathematical functions. f32 exp, expm1, log, log1p, tanh and erf are our own instructions,
// inlined, the same in a vector and in a scalar; the rest are calls of glibc's vector library
// (libmvec), or of libm lane by lane where that is missing. All f32 results are within 4 ULP.
#pragma once

#include <span>
#include <string>

#include "emit/llvm/ir.hpp"

namespace fuseline::emit {

// An intrinsic of class real.
Value emit_math(Ir& ir, Intrinsic fn, std::span<const Value> args);

// A function of libm called for each lane.
Value call_lanewise(Ir& ir, const std::string& name, std::span<const Value> args);
// The same through libmvec in registers of the processor's width, where it has the function.
Value call_vector(Ir& ir, const std::string& name, std::span<const Value> args);

// Our own f32 functions; the argument has any number of lanes.
Value inline_exp(Ir& ir, Value x);
Value inline_expm1(Ir& ir, Value x);
Value inline_log(Ir& ir, Value x);
Value inline_log1p(Ir& ir, Value x);
Value inline_tanh(Ir& ir, Value x);
Value inline_erf(Ir& ir, Value x);

}  // namespace fuseline::emit
