// f16 through the processor's own conversion where it has one, else by integer arithmetic;
// bf16 always by integer arithmetic.
#include "emit/llvm/half.hpp"

namespace fuseline::emit {
namespace {

// Unsigned 32-bit lanes, written as expressions.
class Words {
 public:
  Words(Ir& ir, int lanes) : ir_(ir), b_(ir.builder()), type_(ir.integer_type(32, lanes)) {}

  LLVMTypeRef type() const { return type_; }
  LLVMTypeRef floats() const { return ir_.register_type({DType::f32, Ir::lanes_of(type_)}); }
  Value k(std::uint32_t value) const { return ir_.bits(type_, value); }
  Value add(Value a, Value c) { return LLVMBuildAdd(b_, a, c, ""); }
  Value sub(Value a, Value c) { return LLVMBuildSub(b_, a, c, ""); }
  Value bit_and(Value a, std::uint32_t c) { return LLVMBuildAnd(b_, a, k(c), ""); }
  Value bit_or(Value a, Value c) { return LLVMBuildOr(b_, a, c, ""); }
  Value shl(Value a, std::uint32_t n) { return LLVMBuildShl(b_, a, k(n), ""); }
  Value shr(Value a, std::uint32_t n) { return LLVMBuildLShr(b_, a, k(n), ""); }
  Value above(Value a, std::uint32_t c) { return LLVMBuildICmp(b_, LLVMIntUGT, a, k(c), ""); }
  Value select(Value c, Value x, Value y) { return LLVMBuildSelect(b_, c, x, y, ""); }
  Value as_float(Value a) { return LLVMBuildBitCast(b_, a, floats(), ""); }
  Value as_word(Value a) { return LLVMBuildBitCast(b_, a, type_, ""); }

 private:
  Ir& ir_;
  LLVMBuilderRef b_;
  LLVMTypeRef type_;
};

Value widen_f16_by_integers(Ir& ir, Value wide) {
  Words w(ir, Ir::lanes_of(wide));
  LLVMBuilderRef b = ir.builder();
  Value sign = w.shl(w.bit_and(wide, 0x8000), 16);
  Value magnitude = w.bit_and(wide, 0x7fff);
  Value shifted = w.shl(magnitude, 13);
  Value normal = w.add(shifted, w.k(0x38000000));
  // Infinity and NaN: the exponent goes to all ones; a NaN becomes quiet, as in hardware.
  Value special = w.add(shifted, w.k(0x70000000));
  Value quiet = w.bit_or(special, w.k(0x00400000));
  special = w.select(w.above(magnitude, 0x7c00), quiet, special);
  // Subnormals: the mantissa as an integer times 2^-24, exact.
  Value small = LLVMBuildFMul(b, LLVMBuildSIToFP(b, magnitude, w.floats(), ""),
                              ir.real(w.floats(), 0x1p-24), "");
  Value bits = w.select(w.above(magnitude, 0x3ff), normal, w.as_word(small));
  bits = w.select(w.above(magnitude, 0x7bff), special, bits);
  return w.as_float(w.bit_or(bits, sign));
}

Value narrow_f16_by_integers(Ir& ir, Value value) {
  Words w(ir, Ir::lanes_of(value));
  LLVMBuilderRef b = ir.builder();
  Value bits = w.as_word(value);
  Value sign = w.shr(w.bit_and(bits, 0x80000000), 16);
  Value magnitude = w.bit_and(bits, 0x7fffffff);
  // Normal results: move the exponent and add half a step, one less where the result is even.
  Value odd = w.bit_and(w.shr(magnitude, 13), 1);
  Value normal = w.shr(w.add(w.add(magnitude, odd), w.k(0xc8000fff)), 13);
  // Subnormal results: adding 0.5 leaves the steps of 2^-24 in the low bits, rounded.
  Value sum = LLVMBuildFAdd(b, w.as_float(magnitude), ir.real(w.floats(), 0.5), "");
  Value small = w.sub(w.as_word(sum), w.k(0x3f000000));
  Value nan = w.bit_or(w.bit_and(w.shr(magnitude, 13), 0x3ff), w.k(0x7e00));
  Value result = w.select(w.above(magnitude, 0x387fffff), normal, small);
  result = w.select(w.above(magnitude, 0x477fefff), w.k(0x7c00), result);
  result = w.select(w.above(magnitude, 0x7f800000), nan, result);
  return w.bit_or(result, sign);
}

Value narrow_bf16(Ir& ir, Value value) {
  Words w(ir, Ir::lanes_of(value));
  Value bits = w.as_word(value);
  Value even = w.bit_and(w.shr(bits, 16), 1);
  Value rounded = w.shr(w.add(w.add(bits, even), w.k(0x7fff)), 16);
  Value nan = w.bit_or(w.shr(bits, 16), w.k(0x40));
  return w.select(w.above(w.bit_and(bits, 0x7fffffff), 0x7f800000), nan, rounded);
}

}  // namespace

Value widen_half(Ir& ir, DType memory, Value bits) {
  LLVMBuilderRef b = ir.builder();
  int lanes = Ir::lanes_of(bits);
  LLVMTypeRef words = ir.integer_type(32, lanes), floats = ir.register_type({DType::f32, lanes});
  if (memory == DType::f16 && ir.cpu().has("f16c")) {
    LLVMTypeRef half = ir.vector_type(LLVMHalfTypeInContext(ir.context()), lanes);
    return LLVMBuildFPExt(b, LLVMBuildBitCast(b, bits, half, ""), floats, "");
  }
  Value wide = LLVMBuildZExt(b, bits, words, "");
  if (memory == DType::f16) return widen_f16_by_integers(ir, wide);
  return LLVMBuildBitCast(b, LLVMBuildShl(b, wide, ir.bits(words, 16), ""), floats, "");
}

Value narrow_half(Ir& ir, DType memory, Value value) {
  LLVMBuilderRef b = ir.builder();
  int lanes = Ir::lanes_of(value);
  LLVMTypeRef short_type = ir.integer_type(16, lanes);
  if (memory == DType::f16 && ir.cpu().has("f16c")) {
    LLVMTypeRef half = ir.vector_type(LLVMHalfTypeInContext(ir.context()), lanes);
    return LLVMBuildBitCast(b, LLVMBuildFPTrunc(b, value, half, ""), short_type, "");
  }
  Value wide = memory == DType::f16 ? narrow_f16_by_integers(ir, value) : narrow_bf16(ir, value);
  return LLVMBuildTrunc(b, wide, short_type, "");
}

}  // namespace fuseline::emit
