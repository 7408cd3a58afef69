// Analysis of Loop IR: users, ranges of integers, directions of memory accesses.
#include "emit/llvm/analysis.hpp"

#include <algorithm>

#include "fuse/loop_ops.hpp"
#include "graph/scalar.hpp"

namespace fuseline::emit {

using loop::Id;
using loop::Inst;
using loop::Op;

namespace {

bool narrow(DType t) { return !is_float(t) && size_of(t) <= 4; }

Range range_of_type(DType t) {
  if (!narrow(t)) return {};
  fuseline::Range full = full_range(t);
  return {full.low, full.high};
}

// The signed or unsigned value of the constant's bits.
std::int64_t value_of_bits(DType t, std::uint64_t bits) {
  if (!is_signed_integer(t)) return static_cast<std::int64_t>(bits);
  int shift = static_cast<int>(64 - 8 * size_of(t));
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

}  // namespace

Analysis::Analysis(const loop::Kernel& kernel)
    : kernel_(kernel), facts_(kernel.values), accesses_(kernel.buffers.size()) {
  block(kernel.body);
}

void Analysis::block(const loop::Block& block) {
  int number = blocks_++;
  for (const Inst& inst : block.insts) {
    for (Id arg : inst.args) facts_[arg].users.push_back(&inst);
    if (touches_memory(inst.op)) {
      Access& access = accesses_[static_cast<std::size_t>(inst.buffer)];
      access.atomic |= inst.op == Op::atomic_add;
      (writes_memory(inst.op) ? access.written : access.read) = true;
    }
    if (inst.result != loop::no_id) define(inst, number);
    for (const loop::Block& nested : inst.blocks) this->block(nested);
  }
}

void Analysis::define(const Inst& inst, int block) {
  int results = inst.op == Op::load_group ? inst.channels : 1;
  Range range = range_of(inst);
  for (int c = 0; c < results; ++c) {
    ValueFacts& facts = facts_[inst.result + static_cast<Id>(c)];
    facts.definition = &inst;
    facts.block = block;
    facts.type = inst.type;
    facts.range = range;
  }
}

std::optional<std::int64_t> Analysis::constant(Id id) const {
  const Inst* inst = facts_[id].definition;
  if (inst->op == Op::splat) return constant(inst->args[0]);
  if (inst->op != Op::constant || !narrow(inst->type.dtype)) return std::nullopt;
  return value_of_bits(inst->type.dtype, inst->imm);
}

Range Analysis::range_of(const Inst& inst) const {
  DType t = inst.type.dtype;
  Range whole = range_of_type(t);
  if (!narrow(t)) return whole;
  auto within_type = [&](Range r) { return r.within(whole.low, whole.high) ? r : whole; };
  switch (inst.op) {
    case Op::constant: {
      std::int64_t v = value_of_bits(t, inst.imm);
      return {v, v};
    }
    case Op::splat:
      return facts_[inst.args[0]].range;
    case Op::cast:
      return within_type(narrow(facts_[inst.args[0]].type.dtype) ? facts_[inst.args[0]].range
                                                                 : Range{});
    case Op::select: {
      Range a = facts_[inst.args[1]].range, b = facts_[inst.args[2]].range;
      return {std::min(a.low, b.low), std::max(a.high, b.high)};
    }
    case Op::compute:
      return within_type(range_of_compute(inst));
    default:
      return whole;
  }
}

Range Analysis::range_of_compute(const Inst& inst) const {
  Range a = facts_[inst.args[0]].range;
  Range b = inst.args.size() > 1 ? facts_[inst.args[1]].range : Range{0, 0};
  // Bounds have at most 33 bits, so that no product below overflows.
  if (!a.within(-(1LL << 32), 1LL << 32) || !b.within(-(1LL << 32), 1LL << 32)) return {};
  switch (inst.fn) {
    case Intrinsic::add:
      return {a.low + b.low, a.high + b.high};
    case Intrinsic::sub:
      return {a.low - b.high, a.high - b.low};
    case Intrinsic::mul: {
      if (!a.within(-(1LL << 31), 1LL << 31) || !b.within(-(1LL << 31), 1LL << 31)) return {};
      auto [low, high] =
          std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
      return {low, high};
    }
    case Intrinsic::min:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Intrinsic::max:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case Intrinsic::bit_and:
      if (a.low < 0 || b.low < 0) return {};
      return {0, std::min(a.high, b.high)};
    case Intrinsic::shr:
      if (b.low != b.high || b.low < 0 || b.low > 31) return {};
      return {a.low >> b.low, a.high >> b.low};
    default:
      return {};
  }
}

bool Analysis::widened_only(const Inst& group) const {
  if (group.op != Op::load_group || group.type.dtype != DType::u8) return false;
  for (int c = 0; c < group.channels; ++c)
    for (const Inst* user : facts_[group.result + static_cast<Id>(c)].users) {
      DType to = user->type.dtype;
      bool wide = to == DType::i32 || to == DType::u32 || to == DType::f32;
      if (user->op != Op::cast || !wide) return false;
    }
  return true;
}

bool Analysis::one_way(int buffer) const {
  const Access& a = accesses_[static_cast<std::size_t>(buffer)];
  return !a.atomic && !(a.read && a.written);
}

}  // namespace fuseline::emit
