// BodyEmitter: values, variables and control flow.
#include "emit/llvm/body_emitter.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "emit/llvm/arithmetic.hpp"
#include "emit/llvm/half.hpp"
#include "fuse/loop_ops.hpp"

namespace fuseline::emit {

using loop::Id;
using loop::Inst;
using loop::Op;

BodyEmitter::BodyEmitter(Ir& ir, const loop::Kernel& kernel, const Analysis& analysis,
                         Value function, BodyArguments arguments)
    : ir_(ir),
      kernel_(kernel),
      analysis_(analysis),
      function_(function),
      arguments_(std::move(arguments)),
      memory_(ir, kernel, arguments_.buffers),
      linear_(kernel, analysis, ir.cpu().x86()),
      values_(kernel.values) {}

void BodyEmitter::block(const loop::Block& block) {
  for (const Inst& inst : block.insts) instruction(inst);
}

void BodyEmitter::instruction(const Inst& inst) {
  if (linear_.absorbed(inst)) return;
  if (touches_memory(inst.op))
    memory(inst);
  else if (inst.op >= Op::var)
    control(inst);
  else
    values_[inst.result] = value(inst);
}

void BodyEmitter::memory(const Inst& inst) {
  bool reads = !writes_memory(inst.op);
  if (reads && inst.streaming && inst.type.lanes > 1 && loop_depth_ > 0 && inst.op != Op::gather)
    memory_.prefetch(inst, arg(inst, 0));
  switch (inst.op) {
    case Op::load:
      values_[inst.result] = memory_.load(inst, arg(inst, 0));
      break;
    case Op::load_group:
      load_group(inst);
      break;
    case Op::gather:
      values_[inst.result] = memory_.gather(inst, arg(inst, 0));
      break;
    case Op::store:
      memory_.store(inst, arg(inst, 0), arg(inst, 1));
      break;
    case Op::store_group: {
      std::vector<Value> values;
      for (std::size_t i = 1; i < inst.args.size(); ++i) values.push_back(arg(inst, i));
      memory_.store_group(inst, arg(inst, 0), values);
      break;
    }
    case Op::scatter:
      memory_.scatter(inst, arg(inst, 0), arg(inst, 1));
      break;
    default:
      values_[inst.result] = memory_.atomic_add(inst, arg(inst, 0), arg(inst, 1));
  }
}

void BodyEmitter::load_group(const Inst& inst) {
  if (analysis_.widened_only(inst) && ByteGroup::suits(inst.channels, inst.type.lanes)) {
    Value first = memory_.address(inst, arg(inst, 0), ir_.integer_type(8));
    byte_groups_.emplace(inst.result, ByteGroup(ir_, first, inst.channels, inst.type.lanes));
    return;
  }
  std::vector<Value> channels = memory_.load_group(inst, arg(inst, 0));
  std::copy(channels.begin(), channels.end(),
            values_.begin() + static_cast<std::ptrdiff_t>(inst.result));
}

Value BodyEmitter::value(const Inst& inst) {
  switch (inst.op) {
    case Op::constant:
    case Op::param:
    case Op::block_id:
    case Op::block_count:
    case Op::thread_id:
      return source(inst);
    case Op::compute: {
      if (const LinearCombination* sum = linear_.at(inst)) return combination(*sum, inst.type);
      if (wide_mask(inst)) return pack(ir_, wide_masks_.at(inst.result));
      std::vector<Value> args;
      for (Id id : inst.args) args.push_back(values_[id]);
      return emit_compute(ir_, inst.fn, arg_type(inst, 0), args);
    }
    case Op::select:
      return LLVMBuildSelect(b(), arg(inst, 0), arg(inst, 1), arg(inst, 2), "");
    default:
      return reshaped(inst);
  }
}

Value BodyEmitter::source(const Inst& inst) {
  switch (inst.op) {
    case Op::constant:
      return ir_.bits(ir_.register_type(inst.type), inst.imm);
    case Op::param:
      return arguments_.params[inst.imm];
    case Op::block_id:
      return arguments_.block_id;
    case Op::block_count:
      return arguments_.block_count;
    default:  // thread_id: there is one thread
      return ir_.integer(ir_.integer_type(32), 0);
  }
}

Value BodyEmitter::reshaped(const Inst& inst) {
  int lanes = inst.type.lanes;
  switch (inst.op) {
    case Op::cast:
      return cast(inst);
    case Op::bitcast:
      return LLVMBuildBitCast(b(), arg(inst, 0), ir_.register_type(inst.type), "");
    case Op::round_to: {
      auto memory = static_cast<DType>(inst.imm);
      return widen_half(ir_, memory, narrow_half(ir_, memory, arg(inst, 0)));
    }
    case Op::splat:
      return ir_.splat(arg(inst, 0), lanes);
    case Op::ramp: {
      LLVMTypeRef type = ir_.register_type({inst.type.dtype, 1});
      std::vector<Value> steps;
      for (int i = 0; i < lanes; ++i) steps.push_back(ir_.integer(type, i));
      Value all =
          lanes == 1 ? steps[0] : LLVMConstVector(steps.data(), static_cast<unsigned>(lanes));
      return LLVMBuildAdd(b(), ir_.splat(arg(inst, 0), lanes), all, "");
    }
    case Op::reduce_lanes:
      return reduce_lanes(inst);
    case Op::count_lanes:
      return count_lanes(arg(inst, 0));
    default:
      fail_internal("a Loop IR operation that the CPU has no code for");
  }
}

Value BodyEmitter::cast(const Inst& inst) {
  int channel = 0;
  const ByteGroup* group = byte_channel(inst.args[0], channel);
  bool words_wanted = size_of(inst.type.dtype) == 4;
  if (!group || !words_wanted) return emit_cast(ir_, arg(inst, 0), arg_type(inst, 0), inst.type, inst.mode);
  Value words = group->words(ir_, channel);
  if (inst.type.dtype != DType::f32) return words;
  return LLVMBuildSIToFP(b(), words, ir_.register_type(inst.type), "");
}

// Lane i with lane i + n/2, again and again.
Value BodyEmitter::reduce_lanes(const Inst& inst) {
  Value all = arg(inst, 0);
  for (int lanes = Ir::lanes_of(all); lanes > 1; lanes /= 2) {
    Value halves[] = {ir_.slice(all, 0, lanes / 2), ir_.slice(all, lanes / 2, lanes / 2)};
    all = emit_compute(ir_, inst.fn, {inst.type.dtype, lanes / 2}, halves);
  }
  return all;
}

Value BodyEmitter::count_lanes(Value lanes) {
  LLVMTypeRef word = ir_.integer_type(32);
  int count = Ir::lanes_of(lanes);
  if (count == 1) return LLVMBuildZExt(b(), lanes, word, "");
  Value mask = LLVMBuildBitCast(b(), lanes, ir_.integer_type(count), "");
  if (count < 32) mask = LLVMBuildZExt(b(), mask, word, "");
  Value ones = ir_.unary("llvm.ctpop", mask);
  return count > 32 ? LLVMBuildTrunc(b(), ones, word, "") : ones;
}

// In the function's first block, where the optimizer turns it into values.
Value BodyEmitter::new_variable(LLVMTypeRef type) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(b());
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function_);
  Value first = LLVMGetFirstInstruction(entry);
  if (first)
    LLVMPositionBuilderBefore(b(), first);
  else
    LLVMPositionBuilderAtEnd(b(), entry);
  Value variable = LLVMBuildAlloca(b(), type, "");
  LLVMPositionBuilderAtEnd(b(), here);
  return variable;
}

void BodyEmitter::control(const Inst& inst) {
  switch (inst.op) {
    case Op::var:
      values_[inst.result] = new_variable(ir_.register_type(inst.type));
      LLVMBuildStore(b(), arg(inst, 0), values_[inst.result]);
      break;
    case Op::get:
      values_[inst.result] = LLVMBuildLoad2(b(), ir_.register_type(inst.type), arg(inst, 0), "");
      break;
    case Op::set:
      LLVMBuildStore(b(), arg(inst, 1), arg(inst, 0));
      break;
    case Op::for_range:
      for_range(inst);
      break;
    case Op::if_then:
      if_then(inst);
      break;
    case Op::fence:
      LLVMBuildFence(b(), LLVMAtomicOrderingAcquireRelease, 0, "");
      break;
    default:
      fail_internal("a kernel for GPUs was given to the CPU: it has threads that meet");
  }
}

void BodyEmitter::for_range(const Inst& inst) {
  LLVMContextRef context = ir_.context();
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b());
  LLVMBasicBlockRef head = LLVMAppendBasicBlockInContext(context, function_, "head");
  LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(context, function_, "body");
  LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(context, function_, "done");
  LLVMBuildBr(b(), head);
  LLVMPositionBuilderAtEnd(b(), head);
  Value counter = LLVMBuildPhi(b(), ir_.register_type(inst.type), "");
  Value more = LLVMBuildICmp(b(), LLVMIntSLT, counter, arg(inst, 1), "");
  LLVMBuildCondBr(b(), more, body, done);
  LLVMPositionBuilderAtEnd(b(), body);
  values_[inst.result] = counter;
  ++loop_depth_;
  block(inst.blocks[0]);
  --loop_depth_;
  // As in C, a counter does not overflow.
  Value next = LLVMBuildNSWAdd(b(), counter, arg(inst, 2), "");
  Value incoming[] = {arg(inst, 0), next};
  LLVMBasicBlockRef from[] = {before, LLVMGetInsertBlock(b())};
  LLVMAddIncoming(counter, incoming, from, 2);
  LLVMBuildBr(b(), head);
  LLVMPositionBuilderAtEnd(b(), done);
}

void BodyEmitter::if_then(const Inst& inst) {
  LLVMContextRef context = ir_.context();
  LLVMBasicBlockRef sides[] = {LLVMAppendBasicBlockInContext(context, function_, "then"),
                               LLVMAppendBasicBlockInContext(context, function_, "else")};
  LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(context, function_, "done");
  LLVMBuildCondBr(b(), arg(inst, 0), sides[0], sides[1]);
  for (std::size_t i = 0; i < 2; ++i) {
    LLVMPositionBuilderAtEnd(b(), sides[i]);
    block(inst.blocks[i]);
    LLVMBuildBr(b(), done);
  }
  LLVMPositionBuilderAtEnd(b(), done);
}

}  // namespace fuseline::emit
