// Memory accesses: conversion between memory and register types, interleaving, prefetching.
#include "emit/llvm/memory.hpp"

#include "emit/llvm/half.hpp"
#include "fuse/loop_ops.hpp"

namespace fuseline::emit {

using loop::Inst;

namespace {

// Far enough to hide the latency of memory behind the work on one page.
constexpr int prefetch_bytes = 4096;
constexpr int cache_line = 64;

}  // namespace

DType Memory::dtype(const Inst& inst) const {
  return kernel_.buffers[static_cast<std::size_t>(inst.buffer)].dtype;
}

int Memory::alignment(const Inst& inst) const {
  return inst.align ? inst.align : static_cast<int>(size_of(dtype(inst)));
}

Value Memory::to_register(DType memory, Value value) {
  if (is_bool(memory))
    return LLVMBuildICmp(ir_.builder(), LLVMIntNE, value, LLVMConstNull(LLVMTypeOf(value)), "");
  if (memory == DType::f16 || memory == DType::bf16) return widen_half(ir_, memory, value);
  return value;
}

Value Memory::to_memory(DType memory, Value value) {
  if (is_bool(memory))
    return LLVMBuildZExt(ir_.builder(), value, ir_.integer_type(8, Ir::lanes_of(value)), "");
  if (memory == DType::f16 || memory == DType::bf16) return narrow_half(ir_, memory, value);
  return value;
}

Value Memory::address(const Inst& inst, Value index, LLVMTypeRef access) {
  Value base = pointers_[static_cast<std::size_t>(inst.buffer)];
  return ir_.address(ir_.memory_type(dtype(inst), 1), base, index, access);
}

void Memory::prefetch(const Inst& inst, Value index) {
  LLVMTypeRef byte = ir_.integer_type(8), word = ir_.integer_type(32);
  LLVMTypeRef pointer = ir_.pointer_type(byte);
  Value start = address(inst, index, byte);
  int bytes = inst.type.lanes * inst.channels * static_cast<int>(size_of(dtype(inst)));
  for (int at = 0; at < bytes; at += cache_line) {
    // Plain arithmetic on the address: what lies there need not belong to the buffer.
    Value distance = ir_.int64(prefetch_bytes + at);
    Value there = LLVMBuildGEP2(ir_.builder(), byte, start, &distance, 1, "");
    Value args[] = {there, ir_.integer(word, 0), ir_.integer(word, 3), ir_.integer(word, 1)};
    ir_.intrinsic("llvm.prefetch", {&pointer, 1}, args);
  }
}

Value Memory::load(const Inst& inst, Value index) {
  LLVMTypeRef type = ir_.memory_type(dtype(inst), inst.type.lanes);
  return to_register(dtype(inst), ir_.load(type, address(inst, index, type), alignment(inst)));
}

std::vector<Value> Memory::load_group(const Inst& inst, Value index) {
  int lanes = inst.type.lanes, channels = inst.channels;
  LLVMTypeRef type = ir_.memory_type(dtype(inst), lanes * channels);
  Value all = ir_.load(type, address(inst, index, type), alignment(inst));
  std::vector<Value> result;
  for (int c = 0; c < channels; ++c) {
    std::vector<int> mask;
    for (int lane = 0; lane < lanes; ++lane) mask.push_back(lane * channels + c);
    Value one = lanes == 1      ? ir_.lane(all, c)
                : channels == 1 ? all
                                : ir_.shuffle(all, nullptr, mask);
    result.push_back(to_register(dtype(inst), one));
  }
  return result;
}

Value Memory::gather(const Inst& inst, Value indices) {
  LLVMTypeRef element = ir_.memory_type(dtype(inst), 1);
  int lanes = inst.type.lanes;
  if (lanes == 1)
    return to_register(dtype(inst),
                       ir_.load(element, address(inst, indices, element), alignment(inst)));
  Value result = LLVMGetPoison(ir_.memory_type(dtype(inst), lanes));
  for (int i = 0; i < lanes; ++i) {
    Value from = address(inst, ir_.lane(indices, i), element);
    result = ir_.insert(result, ir_.load(element, from, alignment(inst)), i);
  }
  return to_register(dtype(inst), result);
}

void Memory::store(const Inst& inst, Value index, Value value) {
  Value bits = to_memory(dtype(inst), value);
  ir_.store(bits, address(inst, index, LLVMTypeOf(bits)), alignment(inst));
}

void Memory::store_group(const Inst& inst, Value index, const std::vector<Value>& values) {
  int lanes = inst.type.lanes, channels = inst.channels;
  std::vector<Value> parts;
  for (Value v : values) parts.push_back(to_memory(dtype(inst), v));
  LLVMTypeRef type = ir_.memory_type(dtype(inst), lanes * channels);
  Value all;
  if (lanes == 1) {
    all = channels == 1 ? parts[0] : LLVMGetPoison(type);
    for (int c = 0; c < channels && channels > 1; ++c)
      all = ir_.insert(all, parts[static_cast<std::size_t>(c)], c);
  } else {
    // Joining needs a power of two of parts; the surplus is never selected.
    while (parts.size() & (parts.size() - 1)) parts.push_back(LLVMGetPoison(LLVMTypeOf(parts[0])));
    std::size_t half = parts.size() / 2;
    std::vector<int> mask;
    for (int i = 0; i < lanes * channels; ++i) mask.push_back(i % channels * lanes + i / channels);
    if (half == 0) {
      all = parts[0];
    } else {
      auto middle = parts.begin() + static_cast<std::ptrdiff_t>(half);
      Value first = ir_.concat({parts.begin(), middle}), second = ir_.concat({middle, parts.end()});
      all = ir_.shuffle(first, second, mask);
    }
  }
  ir_.store(all, address(inst, index, type), alignment(inst));
}

void Memory::scatter(const Inst& inst, Value indices, Value values) {
  LLVMTypeRef element = ir_.memory_type(dtype(inst), 1);
  Value bits = to_memory(dtype(inst), values);
  for (int i = 0; i < inst.type.lanes; ++i)
    ir_.store(ir_.lane(bits, i), address(inst, ir_.lane(indices, i), element), alignment(inst));
}

Value Memory::atomic_add(const Inst& inst, Value index, Value value) {
  Value where = address(inst, index, LLVMTypeOf(value));
  return LLVMBuildAtomicRMW(ir_.builder(), LLVMAtomicRMWBinOpAdd, where, value,
                            LLVMAtomicOrderingMonotonic, 0);
}

}  // namespace fuseline::emit
