// Ir: types, constants, lane movements and calls through the LLVM C API.
#include "emit/llvm/ir.hpp"

#include <llvm/Config/llvm-config.h>

#include <llvm/Config/llvm-config.h>

#include "base/fail.hpp"

namespace fuseline::emit {

Ir::Ir(LLVMModuleRef module, const CpuTraits& cpu)
    : module_(module),
      context_(LLVMGetModuleContext(module)),
      builder_(LLVMCreateBuilderInContext(context_)),
      cpu_(cpu) {}

Ir::~Ir() { LLVMDisposeBuilder(builder_); }

LLVMTypeRef Ir::integer_type(int bits, int lanes) const {
  return vector_type(LLVMIntTypeInContext(context_, static_cast<unsigned>(bits)), lanes);
}

LLVMTypeRef Ir::register_type(loop::Type type) const {
  switch (type.dtype) {
    case DType::bool_:
      return integer_type(1, type.lanes);
    case DType::f32:
      return vector_type(LLVMFloatTypeInContext(context_), type.lanes);
    case DType::f64:
      return vector_type(LLVMDoubleTypeInContext(context_), type.lanes);
    default:
      return integer_type(static_cast<int>(8 * size_of(type.dtype)), type.lanes);
  }
}

LLVMTypeRef Ir::memory_type(DType dtype, int lanes) const {
  if (is_bool(dtype)) return integer_type(8, lanes);
  if (dtype == DType::f16 || dtype == DType::bf16) return integer_type(16, lanes);
  return register_type({dtype, lanes});
}

int Ir::lanes_of(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? static_cast<int>(LLVMGetVectorSize(type))
                                                     : 1;
}

int Ir::lanes_of(Value value) { return lanes_of(LLVMTypeOf(value)); }

LLVMTypeRef Ir::element_of(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

Value Ir::bits(LLVMTypeRef type, std::uint64_t value) const {
  LLVMTypeRef element = element_of(type);
  Value scalar;
  switch (LLVMGetTypeKind(element)) {
    case LLVMFloatTypeKind:
      scalar = LLVMConstBitCast(LLVMConstInt(integer_type(32), value, 0), element);
      break;
    case LLVMDoubleTypeKind:
      scalar = LLVMConstBitCast(LLVMConstInt(integer_type(64), value, 0), element);
      break;
    default: {
      unsigned width = LLVMGetIntTypeWidth(element);
      if (width < 64) value &= (std::uint64_t{1} << width) - 1;
      scalar = LLVMConstInt(element, value, 0);
    }
  }
  if (element == type) return scalar;
  std::vector<Value> lanes(static_cast<std::size_t>(lanes_of(type)), scalar);
  return LLVMConstVector(lanes.data(), static_cast<unsigned>(lanes.size()));
}

Value Ir::integer(LLVMTypeRef type, std::int64_t value) const {
  return bits(type, static_cast<std::uint64_t>(value));
}

Value Ir::real(LLVMTypeRef type, double value) const {
  LLVMTypeRef element = element_of(type);
  Value scalar = LLVMConstReal(element, value);
  if (element == type) return scalar;
  std::vector<Value> lanes(static_cast<std::size_t>(lanes_of(type)), scalar);
  return LLVMConstVector(lanes.data(), static_cast<unsigned>(lanes.size()));
}

Value Ir::splat(Value scalar, int lanes) {
  if (lanes == 1) return scalar;
  LLVMTypeRef type = vector_type(LLVMTypeOf(scalar), lanes);
  Value first = insert(LLVMGetPoison(type), scalar, 0);
  return LLVMBuildShuffleVector(builder_, first, LLVMGetPoison(type),
                                LLVMConstNull(integer_type(32, lanes)), "");
}

Value Ir::shuffle(Value a, Value b, std::span<const int> mask) {
  std::vector<Value> indices;
  for (int lane : mask)
    indices.push_back(lane < 0 ? LLVMGetUndef(integer_type(32)) : integer(integer_type(32), lane));
  if (!b) b = LLVMGetPoison(LLVMTypeOf(a));
  return LLVMBuildShuffleVector(
      builder_, a, b, LLVMConstVector(indices.data(), static_cast<unsigned>(indices.size())), "");
}

Value Ir::slice(Value vector, int first, int lanes) {
  if (lanes == lanes_of(vector)) return vector;
  if (lanes == 1) return lane(vector, first);
  std::vector<int> mask;
  for (int i = 0; i < lanes; ++i) mask.push_back(first + i);
  return shuffle(vector, nullptr, mask);
}

Value Ir::concat(std::vector<Value> parts) {
  while (parts.size() > 1) {
    int lanes = lanes_of(parts[0]);
    std::vector<int> mask;
    for (int i = 0; i < 2 * lanes; ++i) mask.push_back(i);
    std::vector<Value> joined;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
      joined.push_back(shuffle(parts[i], parts[i + 1], mask));
    require(parts.size() % 2 == 0, "vectors are joined in powers of two");
    parts = std::move(joined);
  }
  return parts[0];
}

Value Ir::lane(Value vector, int index) {
  if (lanes_of(vector) == 1) return vector;
  return LLVMBuildExtractElement(builder_, vector, integer(integer_type(32), index), "");
}

Value Ir::insert(Value vector, Value scalar, int index) {
  return LLVMBuildInsertElement(builder_, vector, scalar, integer(integer_type(32), index), "");
}

Value Ir::intrinsic(std::string_view name, std::span<const LLVMTypeRef> types,
                    std::span<const Value> args) {
  unsigned id = LLVMLookupIntrinsicID(name.data(), name.size());
  require(id != 0, "an LLVM intrinsic that this LLVM does not have");
  auto* overload = const_cast<LLVMTypeRef*>(types.data());
  Value function = LLVMGetIntrinsicDeclaration(module_, id, overload, types.size());
  LLVMTypeRef type = LLVMIntrinsicGetType(context_, id, overload, types.size());
  return LLVMBuildCall2(builder_, type, function, const_cast<Value*>(args.data()),
                        static_cast<unsigned>(args.size()), "");
}

Value Ir::unary(std::string_view name, Value a) {
  LLVMTypeRef type = LLVMTypeOf(a);
  return intrinsic(name, {&type, 1}, {&a, 1});
}

Value Ir::binary(std::string_view name, Value a, Value b) {
  LLVMTypeRef type = LLVMTypeOf(a);
  Value args[] = {a, b};
  return intrinsic(name, {&type, 1}, args);
}

Value Ir::call_external(const std::string& name, LLVMTypeRef result, std::span<const Value> args) {
  std::vector<LLVMTypeRef> types;
  for (Value a : args) types.push_back(LLVMTypeOf(a));
  LLVMTypeRef type = LLVMFunctionType(result, types.data(), static_cast<unsigned>(types.size()), 0);
  Value function = LLVMGetNamedFunction(module_, name.c_str());
  if (!function) {
    function = LLVMAddFunction(module_, name.c_str(), type);
    add_attribute(function, LLVMAttributeFunctionIndex, "nounwind");
    add_attribute(function, LLVMAttributeFunctionIndex, "willreturn");
#if LLVM_VERSION_MAJOR >= 16
    // memory(none)
    LLVMAddAttributeAtIndex(
        function, LLVMAttributeFunctionIndex,
        LLVMCreateEnumAttribute(context_, LLVMGetEnumAttributeKindForName("memory", 6), 0));
#else
    add_attribute(function, LLVMAttributeFunctionIndex, "readnone");
#endif
  }
  return LLVMBuildCall2(builder_, type, function, const_cast<Value*>(args.data()),
                        static_cast<unsigned>(args.size()), "");
}

Value Ir::address(LLVMTypeRef element, Value base, Value index, LLVMTypeRef access) {
  Value wide = LLVMBuildSExt(builder_, index, integer_type(64), "");
  Value pointer = LLVMBuildInBoundsGEP2(builder_, element, base, &wide, 1, "");
  return LLVMBuildPointerCast(builder_, pointer, pointer_type(access), "");
}

Value Ir::offset_address(LLVMTypeRef element, Value pointer, std::int64_t elements,
                         LLVMTypeRef access) {
  Value base = LLVMBuildPointerCast(builder_, pointer, pointer_type(element), "");
  return address(element, base, int64(elements), access);
}

Value Ir::load(LLVMTypeRef type, Value pointer, int align) {
  Value value = LLVMBuildLoad2(builder_, type, pointer, "");
  LLVMSetAlignment(value, static_cast<unsigned>(align));
  return value;
}

Value Ir::store(Value value, Value pointer, int align) {
  Value inst = LLVMBuildStore(builder_, value, pointer);
  LLVMSetAlignment(inst, static_cast<unsigned>(align));
  return inst;
}

Value Ir::rarely(Value rare, Value usual, const std::function<Value()>& general) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(builder_);
  Value function = LLVMGetBasicBlockParent(before);
  LLVMBasicBlockRef slow = LLVMAppendBasicBlockInContext(context_, function, "rare");
  LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(context_, function, "usual");
  Value branch = LLVMBuildCondBr(builder_, rare, slow, after);
  LLVMTypeRef word = integer_type(32);
  LLVMMetadataRef weights[] = {LLVMMDStringInContext2(context_, "branch_weights", 14),
                               LLVMValueAsMetadata(integer(word, 1)),
                               LLVMValueAsMetadata(integer(word, 2000))};
  set_metadata(branch, "prof", LLVMMDNodeInContext2(context_, weights, 3));
  LLVMPositionBuilderAtEnd(builder_, slow);
  Value other = general();
  LLVMBasicBlockRef end = LLVMGetInsertBlock(builder_);
  LLVMBuildBr(builder_, after);
  LLVMPositionBuilderAtEnd(builder_, after);
  Value result = LLVMBuildPhi(builder_, LLVMTypeOf(usual), "");
  Value values[] = {usual, other};
  LLVMBasicBlockRef from[] = {before, end};
  LLVMAddIncoming(result, values, from, 2);
  return result;
}

void Ir::set_metadata(Value inst, std::string_view kind, LLVMMetadataRef node) {
  unsigned id = LLVMGetMDKindIDInContext(context_, kind.data(), static_cast<unsigned>(kind.size()));
  LLVMSetMetadata(inst, id, LLVMMetadataAsValue(context_, node));
}

void Ir::add_attribute(Value function, unsigned index, std::string_view name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name.data(), name.size());
  LLVMAddAttributeAtIndex(function, index, LLVMCreateEnumAttribute(context_, kind, 0));
}

void Ir::add_attribute(Value function, std::string_view name, std::string_view text) {
  LLVMAddAttributeAtIndex(
      function, LLVMAttributeFunctionIndex,
      LLVMCreateStringAttribute(context_, name.data(), static_cast<unsigned>(name.size()),
                                text.data(), static_cast<unsigned>(text.size())));
}

}  // namespace fuseline::emit
