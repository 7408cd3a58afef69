// BodyEmitter: the instructions of a kernel's body, one after the other, at the builder's cursor.
#pragma once

#include <map>
#include <vector>

#include "emit/llvm/analysis.hpp"
#include "emit/llvm/byte_group.hpp"
#include "emit/llvm/linear.hpp"
#include "emit/llvm/memory.hpp"
#include "emit/llvm/wide_mask.hpp"

namespace fuseline::emit {

// What the surrounding functions hand to the body.
struct BodyArguments {
  std::vector<Value> buffers, params;
  Value block_id, block_count;
};

class BodyEmitter {
 public:
  BodyEmitter(Ir& ir, const loop::Kernel& kernel, const Analysis& analysis, Value function,
              BodyArguments arguments);

  void run() { block(kernel_.body); }

 private:
  void block(const loop::Block& block);
  void instruction(const loop::Inst& inst);
  void memory(const loop::Inst& inst);
  void load_group(const loop::Inst& inst);
  void control(const loop::Inst& inst);
  void for_range(const loop::Inst& inst);
  void if_then(const loop::Inst& inst);
  Value value(const loop::Inst& inst);
  Value source(const loop::Inst& inst);
  Value reshaped(const loop::Inst& inst);
  Value cast(const loop::Inst& inst);
  Value reduce_lanes(const loop::Inst& inst);
  Value count_lanes(Value lanes);
  Value new_variable(LLVMTypeRef type);

  // peephole_x86.cpp: pairs of products in one instruction, conditions of many lanes.
  Value combination(const LinearCombination& sum, loop::Type type);
  Value word_pair(loop::Id low, loop::Id high, int lanes);
  bool wide_mask(const loop::Inst& inst);
  const ByteGroup* byte_channel(loop::Id id, int& channel) const;

  Value arg(const loop::Inst& inst, std::size_t i) const { return values_[inst.args[i]]; }
  loop::Type arg_type(const loop::Inst& inst, std::size_t i) const {
    return analysis_.of(inst.args[i]).type;
  }
  LLVMBuilderRef b() const { return ir_.builder(); }

  Ir& ir_;
  const loop::Kernel& kernel_;
  const Analysis& analysis_;
  Value function_;
  BodyArguments arguments_;
  Memory memory_;
  LinearCombinations linear_;
  std::vector<Value> values_;
  std::map<loop::Id, ByteGroup> byte_groups_;  // by the load_group's first result
  std::map<loop::Id, WideMask> wide_masks_;
  int loop_depth_ = 0;
};

}  // namespace fuseline::emit
