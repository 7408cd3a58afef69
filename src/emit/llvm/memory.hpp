// Memory: the loads, stores and atomic operations of Loop IR on the buffers of one kernel.
#pragma once

#include <vector>

#include "emit/llvm/ir.hpp"

namespace fuseline::emit {

class Memory {
 public:
  // `pointers`: one for each buffer, to elements of its memory type.
  Memory(Ir& ir, const loop::Kernel& kernel, std::vector<Value> pointers)
      : ir_(ir), kernel_(kernel), pointers_(std::move(pointers)) {}

  Value load(const loop::Inst& inst, Value index);
  std::vector<Value> load_group(const loop::Inst& inst, Value index);
  Value gather(const loop::Inst& inst, Value indices);
  void store(const loop::Inst& inst, Value index, Value value);
  void store_group(const loop::Inst& inst, Value index, const std::vector<Value>& values);
  void scatter(const loop::Inst& inst, Value indices, Value values);
  Value atomic_add(const loop::Inst& inst, Value index, Value value);

  // The address of element `index`, as a pointer to `access`.
  Value address(const loop::Inst& inst, Value index, LLVMTypeRef access);
  // Asks for what a loop reads a page from now; hardware prefetching stops at the page's end.
  void prefetch(const loop::Inst& inst, Value index);
  // Between values as they lie in memory and as they are computed with.
  Value to_register(DType memory, Value value);
  Value to_memory(DType memory, Value value);

 private:
  DType dtype(const loop::Inst& inst) const;
  int alignment(const loop::Inst& inst) const;

  Ir& ir_;
  const loop::Kernel& kernel_;
  std::vector<Value> pointers_;
};

}  // namespace fuseline::emit
