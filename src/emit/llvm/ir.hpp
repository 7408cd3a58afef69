// Ir: the LLVM C API in terms of Loop IR types; hides what differs between LLVM 14 and 20.
#pragma once

#include <llvm-c/Core.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emit/llvm/cpu_traits.hpp"
#include "fuse/loop_ir.hpp"

namespace fuseline::emit {

using Value = LLVMValueRef;

class Ir {
 public:
  Ir(LLVMModuleRef module, const CpuTraits& cpu);
  ~Ir();
  Ir(const Ir&) = delete;
  Ir& operator=(const Ir&) = delete;

  const CpuTraits& cpu() const { return cpu_; }
  LLVMContextRef context() const { return context_; }
  LLVMModuleRef module() const { return module_; }
  LLVMBuilderRef builder() const { return builder_; }

  // Types. A "register" type has i1 for bool; a "memory" type has i8, and i16 for f16 and bf16.
  LLVMTypeRef integer_type(int bits, int lanes = 1) const;
  LLVMTypeRef register_type(loop::Type type) const;
  LLVMTypeRef memory_type(DType dtype, int lanes) const;
  LLVMTypeRef pointer_type(LLVMTypeRef element) const { return LLVMPointerType(element, 0); }
  LLVMTypeRef vector_type(LLVMTypeRef element, int lanes) const {
    return lanes == 1 ? element : LLVMVectorType(element, static_cast<unsigned>(lanes));
  }
  static int lanes_of(Value value);
  static int lanes_of(LLVMTypeRef type);
  static LLVMTypeRef element_of(LLVMTypeRef type);
  // Same lanes, another element.
  LLVMTypeRef with_element(Value like, LLVMTypeRef element) const {
    return vector_type(element, lanes_of(like));
  }

  // Constants, the same in every lane.
  Value bits(LLVMTypeRef type, std::uint64_t value) const;  // of integers and of floats
  Value integer(LLVMTypeRef type, std::int64_t value) const;
  Value real(LLVMTypeRef type, double value) const;
  Value int64(std::int64_t value) const { return integer(integer_type(64), value); }

  // Lanes.
  Value splat(Value scalar, int lanes);
  Value shuffle(Value a, Value b, std::span<const int> mask);  // -1: any
  Value slice(Value vector, int first, int lanes);             // lanes 1: a scalar
  Value concat(std::vector<Value> parts);                      // equal ones
  Value lane(Value vector, int index);                         // of a scalar: itself
  Value insert(Value vector, Value scalar, int index);

  // Calls an intrinsic that is overloaded on `types`.
  Value intrinsic(std::string_view name, std::span<const LLVMTypeRef> types,
                  std::span<const Value> args);
  Value unary(std::string_view name, Value a);
  Value binary(std::string_view name, Value a, Value b);
  // Calls an external function without side effects.
  Value call_external(const std::string& name, LLVMTypeRef result, std::span<const Value> args);

  // The address of element `index` (i32 or i64), as a pointer to `access`.
  Value address(LLVMTypeRef element, Value base, Value index, LLVMTypeRef access);
  Value offset_address(LLVMTypeRef element, Value pointer, std::int64_t elements,
                       LLVMTypeRef access);
  Value load(LLVMTypeRef type, Value pointer, int align);
  Value store(Value value, Value pointer, int align);

  // `usual`, or where `rare` (one i1) holds what `general` computes in a block of its own.
  Value rarely(Value rare, Value usual, const std::function<Value()>& general);

  void set_metadata(Value inst, std::string_view kind, LLVMMetadataRef node);
  void add_attribute(Value function, unsigned index, std::string_view name);
  void add_attribute(Value function, std::string_view name, std::string_view text);

 private:
  LLVMModuleRef module_;
  LLVMContextRef context_;
  LLVMBuilderRef builder_;
  const CpuTraits& cpu_;
};

}  // namespace fuseline::emit
