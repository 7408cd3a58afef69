// WideMask: comparison by parts, logic with deferred negation, packing.
#include "emit/llvm/wide_mask.hpp"

#include "base/fail.hpp"
#include "emit/llvm/arithmetic.hpp"

namespace fuseline::emit {

namespace {

constexpr int part_lanes = 8, packed_lanes = 32;

Value invert(Ir& ir, Value part) { return LLVMBuildNot(ir.builder(), part, ""); }

}  // namespace

bool suits_wide_mask(const Ir& ir, int lanes) {
  return ir.cpu().x86() && ir.cpu().vector_bytes() == 32 && lanes % packed_lanes == 0 &&
         (lanes & (lanes - 1)) == 0;
}

WideMask compare_wide(Ir& ir, Intrinsic fn, DType operand, bool positive, Value a, Value b) {
  WideMask mask;
  if (!is_float(operand)) {
    // The processor has "equal" and "greater".
    if (operand == DType::u32 && positive) operand = DType::i32;
    mask.inverted = fn == Intrinsic::le || fn == Intrinsic::ne;
    if (fn == Intrinsic::le) std::swap(a, b);
    fn = fn == Intrinsic::le ? Intrinsic::lt : fn == Intrinsic::ne ? Intrinsic::eq : fn;
  }
  LLVMTypeRef words = ir.integer_type(32, part_lanes);
  for (int first = 0; first < Ir::lanes_of(a); first += part_lanes) {
    Value slices[] = {ir.slice(a, first, part_lanes), ir.slice(b, first, part_lanes)};
    Value truth = emit_compute(ir, fn, {operand, part_lanes}, slices);
    mask.parts.push_back(LLVMBuildSExt(ir.builder(), truth, words, ""));
  }
  return mask;
}

WideMask combine_wide(Ir& ir, Intrinsic fn, std::span<const WideMask* const> operands) {
  WideMask result = *operands[0];
  if (fn == Intrinsic::bit_not) {
    result.inverted = !result.inverted;
    return result;
  }
  const WideMask& a = *operands[0];
  const WideMask& b = *operands[1];
  bool is_xor = fn == Intrinsic::bit_xor, both = a.inverted && b.inverted;
  result.inverted = is_xor ? a.inverted != b.inverted : both;
  // not a and not b = not (a or b); one inverted operand of two costs nothing (vpandn).
  if (both && !is_xor) fn = fn == Intrinsic::bit_and ? Intrinsic::bit_or : Intrinsic::bit_and;
  for (std::size_t i = 0; i < a.parts.size(); ++i) {
    bool flip = !is_xor && !both;
    Value args[] = {flip && a.inverted ? invert(ir, a.parts[i]) : a.parts[i],
                    flip && b.inverted ? invert(ir, b.parts[i]) : b.parts[i]};
    result.parts[i] = emit_compute(ir, fn, {DType::i32, part_lanes}, args);
  }
  return result;
}

Value pack(Ir& ir, const WideMask& mask) {
  LLVMBuilderRef b = ir.builder();
  LLVMTypeRef bytes = ir.integer_type(8, packed_lanes), words = ir.integer_type(32, part_lanes);
  // Packing works within 16-byte halves; this puts the pixels back into their order.
  constexpr int order[] = {0, 4, 1, 5, 2, 6, 3, 7};
  std::vector<Value> packed;
  for (std::size_t i = 0; i + 3 < mask.parts.size(); i += 4) {
    Value pairs[2];
    for (std::size_t k = 0; k < 2; ++k) {
      Value args[] = {mask.parts[i + 2 * k], mask.parts[i + 2 * k + 1]};
      pairs[k] = ir.intrinsic("llvm.x86.avx2.packssdw", {}, args);
    }
    Value all = ir.intrinsic("llvm.x86.avx2.packsswb", {}, pairs);
    all = ir.shuffle(LLVMBuildBitCast(b, all, words, ""), nullptr, order);
    packed.push_back(LLVMBuildBitCast(b, all, bytes, ""));
  }
  Value all = ir.concat(std::move(packed));
  return LLVMBuildICmp(b, mask.inverted ? LLVMIntSGE : LLVMIntSLT, all,
                       LLVMConstNull(LLVMTypeOf(all)), "");
}

}  // namespace fuseline::emit
