// f16 and bf16, which exist in memory only: conversion of their 16 bits to and from f32.
#pragma once

#include "emit/llvm/ir.hpp"

namespace fuseline::emit {

// `bits` has i16 lanes; the result f32 lanes.
Value widen_half(Ir& ir, DType memory, Value bits);
// Nearest even; a NaN stays a NaN (quiet, with the upper part of its payload).
Value narrow_half(Ir& ir, DType memory, Value value);

}  // namespace fuseline::emit
