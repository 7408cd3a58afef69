// Finding linear combinations: from each last addition down through sums that nobody else uses.
#include "emit/llvm/linear.hpp"

namespace fuseline::emit {

using loop::Id;
using loop::Inst;
using loop::Op;

namespace {

bool is_word_vector(loop::Type t) {
  bool power = t.lanes >= 4 && (t.lanes & (t.lanes - 1)) == 0;
  return power && (t.dtype == DType::i32 || t.dtype == DType::u32);
}

bool is_compute(const Inst& inst, Intrinsic fn) { return inst.op == Op::compute && inst.fn == fn; }

bool is_sum(const Inst& inst) {
  return is_compute(inst, Intrinsic::add) || is_compute(inst, Intrinsic::sub);
}

bool fits_i16(std::int64_t v) { return v >= -32768 && v <= 32767; }

}  // namespace

LinearCombinations::LinearCombinations(const loop::Kernel& kernel, const Analysis& analysis,
                                       bool wanted)
    : analysis_(analysis), absorbed_(kernel.values) {
  if (wanted) block(kernel.body);
}

// Backwards, so that a sum is met before the sums inside it.
void LinearCombinations::block(const loop::Block& block) {
  for (auto inst = block.insts.rbegin(); inst != block.insts.rend(); ++inst) {
    for (const loop::Block& nested : inst->blocks) this->block(nested);
    if (is_sum(*inst) && is_word_vector(inst->type) && !absorbed_[inst->result]) try_root(*inst);
  }
}

void LinearCombinations::try_root(const Inst& inst) {
  LinearCombination sum;
  std::vector<Id> inner;
  collect(inst.result, 1, analysis_.of(inst.result).block, sum, inner, true);
  int products = 0;
  for (const LinearCombination::Term& term : sum.terms) products += term.coefficient != 1;
  if (products < 2) return;
  for (Id id : inner) absorbed_[id] = true;
  roots_.emplace(inst.result, std::move(sum));
}

void LinearCombinations::collect(Id id, int sign, int block, LinearCombination& sum,
                                 std::vector<Id>& inner, bool root) const {
  if (auto c = analysis_.constant(id)) {
    sum.constant += sign * *c;
    return;
  }
  const ValueFacts& facts = analysis_.of(id);
  const Inst& inst = *facts.definition;
  bool ours = root || (facts.users.size() == 1 && facts.block == block);
  if (ours && is_sum(inst)) {
    if (!root) inner.push_back(id);
    collect(inst.args[0], sign, block, sum, inner, false);
    collect(inst.args[1], inst.fn == Intrinsic::sub ? -sign : sign, block, sum, inner, false);
    return;
  }
  if (ours && is_compute(inst, Intrinsic::mul) && collect_product(inst, sign, sum)) {
    inner.push_back(id);
    return;
  }
  sum.rest.push_back({id, sign < 0});
}

bool LinearCombinations::collect_product(const Inst& inst, int sign, LinearCombination& sum) const {
  for (int side = 0; side < 2; ++side) {
    Id value = inst.args[static_cast<std::size_t>(1 - side)];
    auto c = analysis_.constant(inst.args[static_cast<std::size_t>(side)]);
    if (!c || !fits_i16(sign * *c) || !analysis_.of(value).range.fits_i16()) continue;
    sum.terms.push_back({value, static_cast<std::int32_t>(sign * *c)});
    return true;
  }
  return false;
}

const LinearCombination* LinearCombinations::at(const Inst& inst) const {
  auto found = roots_.find(inst.result);
  return found == roots_.end() ? nullptr : &found->second;
}

}  // namespace fuseline::emit
