// x86: linear combinations of 16-bit values as vpmaddwd, which multiplies and adds two pairs;
// conditions on 32-bit lanes as masks that are packed once.
#include <algorithm>

#include "emit/llvm/body_emitter.hpp"

namespace fuseline::emit {

using loop::Id;
using loop::Inst;

namespace {

const char* multiply_add_name(int lanes) {
  return lanes == 16  ? "llvm.x86.avx512.pmaddw.d.512"
         : lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                      : "llvm.x86.sse2.pmadd.wd";
}

// Both pairs of 16-bit halves of each word multiplied and added.
Value multiply_add(Ir& ir, Value words, std::uint32_t coefficients) {
  LLVMBuilderRef b = ir.builder();
  int lanes = Ir::lanes_of(words);
  int width = std::min(lanes, ir.cpu().vector_bytes() / 4);
  LLVMTypeRef halves = ir.integer_type(16, 2 * width);
  Value factor = LLVMBuildBitCast(b, ir.bits(ir.integer_type(32, width), coefficients), halves, "");
  std::vector<Value> parts;
  for (int first = 0; first < lanes; first += width) {
    Value args[] = {LLVMBuildBitCast(b, ir.slice(words, first, width), halves, ""), factor};
    parts.push_back(ir.intrinsic(multiply_add_name(width), {}, args));
  }
  return ir.concat(std::move(parts));
}

std::uint32_t packed(std::int32_t low, std::int32_t high) {
  return static_cast<std::uint32_t>(low & 0xffff) | static_cast<std::uint32_t>(high) << 16;
}

}  // namespace

// The group and channel of which this value is the cast (or the channel itself).
const ByteGroup* BodyEmitter::byte_channel(Id id, int& channel) const {
  const Inst* inst = analysis_.of(id).definition;
  if (inst->op == loop::Op::cast) {
    id = inst->args[0];
    inst = analysis_.of(id).definition;
  }
  auto found = byte_groups_.find(inst->result);
  if (found == byte_groups_.end()) return nullptr;
  channel = static_cast<int>(id - inst->result);
  return &found->second;
}

// low in the lower and high in the upper 16 bits of each word.
Value BodyEmitter::word_pair(Id low, Id high, int lanes) {
  int low_channel = 0, high_channel = -1;
  const ByteGroup* group = byte_channel(low, low_channel);
  if (high == loop::no_id) {
    if (group) return group->words(ir_, low_channel);
    // The upper half meets the coefficient 0, whatever it holds.
    return values_[low];
  }
  if (group && group == byte_channel(high, high_channel))
    return group->words(ir_, low_channel, high_channel);
  LLVMTypeRef type = ir_.integer_type(32, lanes);
  Value lower = values_[low];
  if (analysis_.of(low).range.low < 0) lower = LLVMBuildAnd(b(), lower, ir_.bits(type, 0xffff), "");
  return LLVMBuildOr(b(), lower, LLVMBuildShl(b(), values_[high], ir_.bits(type, 16), ""), "");
}

// True where the condition now stands in wide_masks_. A user that selects wide values would unpack
// the mask again; LLVM's own form serves it better.
bool BodyEmitter::wide_mask(const Inst& inst) {
  if (!is_bool(inst.type.dtype) || !suits_wide_mask(ir_, inst.type.lanes)) return false;
  for (const Inst* user : analysis_.of(inst.result).users)
    if (user->op == loop::Op::cast ||
        (user->op == loop::Op::select && size_of(user->type.dtype) > 1))
      return false;
  DType operand = arg_type(inst, 0).dtype;
  if (info(inst.fn).cls == IntrinsicClass::cmp) {
    if (size_of(operand) != 4) return false;
    auto positive = [&](std::size_t i) {
      return analysis_.of(inst.args[i]).range.within(0, 0x7fffffff);
    };
    wide_masks_[inst.result] =
        compare_wide(ir_, inst.fn, operand, positive(0) && positive(1), arg(inst, 0), arg(inst, 1));
    return true;
  }
  std::vector<const WideMask*> operands;
  for (Id id : inst.args) {
    auto found = wide_masks_.find(id);
    if (found == wide_masks_.end()) return false;
    operands.push_back(&found->second);
  }
  wide_masks_[inst.result] = combine_wide(ir_, inst.fn, operands);
  return true;
}

Value BodyEmitter::combination(const LinearCombination& sum, loop::Type type) {
  LLVMTypeRef words = ir_.register_type(type);
  Value total = nullptr;
  auto add = [&](Value v) { total = total ? LLVMBuildAdd(b(), total, v, "") : v; };
  for (std::size_t i = 0; i < sum.terms.size(); i += 2) {
    LinearCombination::Term low = sum.terms[i];
    LinearCombination::Term high{loop::no_id, 0};
    if (i + 1 < sum.terms.size()) high = sum.terms[i + 1];
    Value pair = word_pair(low.value, high.value, type.lanes);
    add(multiply_add(ir_, pair, packed(low.coefficient, high.coefficient)));
  }
  for (const LinearCombination::Addend& a : sum.rest)
    total = a.negative ? LLVMBuildSub(b(), total, values_[a.value], "")
                       : LLVMBuildAdd(b(), total, values_[a.value], "");
  if (sum.constant != 0) add(ir_.integer(words, sum.constant));
  return total;
}

}  // namespace fuseline::emit
