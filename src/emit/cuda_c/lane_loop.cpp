// The open lane loop of the printer, and which values a kernel needs.
#include "emit/cuda_c/lane_loop.hpp"

#include <algorithm>
#include <unordered_map>

#include "fuse/loop_ops.hpp"

namespace fuseline::cuda_c {
namespace {

using loop::Id;
using loop::Inst;
using loop::Op;

bool has_effect(const Inst& inst) {
  return writes_memory(inst.op) || !has_result(inst.op) || inst.op == Op::for_range;
}

int result_count(const Inst& inst) {
  if (inst.result == loop::no_id) return 0;
  return inst.op == Op::load_group ? inst.channels : 1;
}

// From the end: all uses of a value stand behind it.
void gather_facts(const loop::Block& block, ValueFacts& facts) {
  for (auto inst = block.insts.rbegin(); inst != block.insts.rend(); ++inst) {
    for (auto inner = inst->blocks.rbegin(); inner != inst->blocks.rend(); ++inner)
      gather_facts(*inner, facts);
    if (inst->op == Op::constant) facts.constants[inst->result] = inst->imm;
    bool used = has_effect(*inst);
    for (int c = 0; c < result_count(*inst); ++c) {
      facts.types[inst->result + static_cast<Id>(c)] = inst->type;
      used |= facts.uses[inst->result + static_cast<Id>(c)] > 0;
    }
    if (used)
      for (Id arg : inst->args) ++facts.uses[arg];
  }
}

// What a step reads lane by lane.
std::vector<Id> operands_of(const LaneStep& step) {
  switch (step.kind) {
    case LaneStep::Kind::unpack:
      return {};
    case LaneStep::Kind::pack:
      return {step.inst->args[1 + static_cast<std::size_t>(step.part)]};
    default:
      return step.inst->args;
  }
}

}  // namespace

bool LaneLoop::makes(const loop::Inst& inst) const {
  return std::any_of(inst.args.begin(), inst.args.end(), [&](Id arg) {
    return std::find(scalars.begin(), scalars.end(), arg) != scalars.end();
  });
}

Id result_of(const LaneStep& step) {
  switch (step.kind) {
    case LaneStep::Kind::value:
      return step.inst->result;
    case LaneStep::Kind::unpack:
      return step.inst->result + static_cast<Id>(step.part);
    default:
      return loop::no_id;
  }
}

std::vector<bool> inside_only(const LaneLoop& loop, const std::vector<int>& uses) {
  std::unordered_map<Id, int> inside;
  for (const LaneStep& step : loop.steps)
    for (Id arg : operands_of(step)) ++inside[arg];
  std::vector<bool> only;
  for (const LaneStep& step : loop.steps) {
    Id id = result_of(step);
    only.push_back(id != loop::no_id && inside[id] == uses[id]);
  }
  return only;
}

bool stores_remainder(const Inst& for_range, const ValueFacts& facts) {
  if (facts.constants[for_range.args[1]] || facts.constants[for_range.args[2]] != 1) return false;
  const auto& insts = for_range.blocks[0].insts;
  return std::any_of(insts.begin(), insts.end(), [](const Inst& inst) {
    return (inst.op == Op::store || inst.op == Op::store_group) && inst.type.lanes == 1;
  });
}

ValueFacts value_facts(const loop::Kernel& kernel) {
  ValueFacts facts;
  facts.uses.resize(kernel.values);
  facts.types.resize(kernel.values);
  facts.constants.resize(kernel.values);
  gather_facts(kernel.body, facts);
  return facts;
}

}  // namespace fuseline::cuda_c
