// Floats: arithmetic on f32 lanes written as expressions, for the inlined functions.
#pragma once

#include <bit>
#include <initializer_list>
#include <vector>

#include "emit/llvm/ir.hpp"

namespace fuseline::emit {

class Floats {
 public:
  Floats(Ir& ir, Value value) : ir_(&ir), value_(value) {}

  Value value() const { return value_; }
  Floats k(float c) const {
    return {*ir_, ir_->bits(LLVMTypeOf(value_), std::bit_cast<std::uint32_t>(c))};
  }

  friend Floats operator+(Floats a, Floats b) {
    return a.with(LLVMBuildFAdd(a.b(), a.value_, b.value_, ""));
  }
  friend Floats operator-(Floats a, Floats b) {
    return a.with(LLVMBuildFSub(a.b(), a.value_, b.value_, ""));
  }
  friend Floats operator*(Floats a, Floats b) {
    return a.with(LLVMBuildFMul(a.b(), a.value_, b.value_, ""));
  }
  friend Floats operator/(Floats a, Floats b) {
    return a.with(LLVMBuildFDiv(a.b(), a.value_, b.value_, ""));
  }
  friend Floats operator+(Floats a, float b) { return a + a.k(b); }
  friend Floats operator-(Floats a, float b) { return a - a.k(b); }
  friend Floats operator*(Floats a, float b) { return a * a.k(b); }

  // this * m + c, fused where the processor does that in one instruction.
  Floats mul_add(Floats m, Floats c) const {
    if (!ir_->cpu().has("fma")) return *this * m + c;
    LLVMTypeRef type = LLVMTypeOf(value_);
    Value args[] = {value_, m.value_, c.value_};
    return with(ir_->intrinsic("llvm.fma", {&type, 1}, args));
  }
  // The polynomial with these coefficients, the highest power first, by Estrin's scheme: few
  // steps that depend on each other.
  Floats polynomial(std::initializer_list<float> coefficients) const {
    std::vector<Floats> terms;
    for (const float* c = coefficients.end(); c != coefficients.begin();) terms.push_back(k(*--c));
    for (Floats power = *this; terms.size() > 1; power = power * power) {
      std::vector<Floats> pairs;
      for (std::size_t i = 0; i + 1 < terms.size(); i += 2)
        pairs.push_back(terms[i + 1].mul_add(power, terms[i]));
      if (terms.size() % 2 == 1) pairs.push_back(terms.back());
      terms = std::move(pairs);
    }
    return terms[0];
  }
  Floats abs() const { return with(ir_->unary("llvm.fabs", value_)); }
  Floats copysign(Floats sign) const {
    return with(ir_->binary("llvm.copysign", value_, sign.value_));
  }

  // Comparisons that are false for NaN.
  Value above(float c) const { return compare(LLVMRealOGT, c); }
  Value below(float c) const { return compare(LLVMRealOLT, c); }
  Value equals(float c) const { return compare(LLVMRealOEQ, c); }
  // otherwise, where condition holds `picked`; a NaN argument of a clamp passes through.
  Floats replaced(Value condition, Floats picked) const {
    return with(LLVMBuildSelect(b(), condition, picked.value_, value_, ""));
  }
  Floats at_most(float c) const { return replaced(above(c), k(c)); }
  Floats at_least(float c) const { return replaced(below(c), k(c)); }

  // Their bits and their integer values, as i32 lanes.
  Value bits() const { return LLVMBuildBitCast(b(), value_, words(), ""); }
  Floats from_bits(Value bits) const {
    return with(LLVMBuildBitCast(b(), bits, LLVMTypeOf(value_), ""));
  }
  Floats from_integer(Value i) const {
    return with(LLVMBuildSIToFP(b(), i, LLVMTypeOf(value_), ""));
  }

  Value word(std::uint32_t c) const { return ir_->bits(words(), c); }
  LLVMBuilderRef b() const { return ir_->builder(); }

 private:
  Floats with(Value value) const { return {*ir_, value}; }
  LLVMTypeRef words() const { return ir_->integer_type(32, Ir::lanes_of(value_)); }
  Value compare(LLVMRealPredicate p, float c) const {
    return LLVMBuildFCmp(b(), p, value_, k(c).value_, "");
  }

  Ir* ir_;
  Value value_;
};

}  // namespace fuseline::emit
