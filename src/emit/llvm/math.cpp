// Which function is computed how, and calls of the C library.
#include "emit/llvm/math.hpp"

#include <fmt/format.h>

namespace fuseline::emit {
namespace {

bool is_f32(Value value) {
  return LLVMGetTypeKind(Ir::element_of(LLVMTypeOf(value))) == LLVMFloatTypeKind;
}

const char* rounding_intrinsic(Intrinsic fn) {
  switch (fn) {
    case Intrinsic::floor:
      return "llvm.floor";
    case Intrinsic::ceil:
      return "llvm.ceil";
    case Intrinsic::trunc:
      return "llvm.trunc";
    case Intrinsic::rint:
      return "llvm.nearbyint";
    case Intrinsic::sqrt:
      return "llvm.sqrt";
    default:
      return nullptr;
  }
}

using Inline = Value (*)(Ir&, Value);

Inline own_function(Intrinsic fn) {
  switch (fn) {
    case Intrinsic::exp:
      return inline_exp;
    case Intrinsic::expm1:
      return inline_expm1;
    case Intrinsic::log:
      return inline_log;
    case Intrinsic::log1p:
      return inline_log1p;
    case Intrinsic::tanh:
      return inline_tanh;
    case Intrinsic::erf:
      return inline_erf;
    default:
      return nullptr;
  }
}

// The letter of the vector ABI and its register width.
struct VectorAbi {
  char letter;
  int bytes;
};

VectorAbi vector_abi(const CpuTraits& cpu) {
  if (cpu.vector_bytes() == 64) return {'e', 64};
  return cpu.has("avx2") ? VectorAbi{'d', 32} : VectorAbi{'b', 16};
}

// `lanes` lanes from `first` on; lanes beyond the end repeat the last one.
Value padded_slice(Ir& ir, Value value, int first, int lanes) {
  int have = Ir::lanes_of(value);
  if (have == 1) return ir.splat(value, lanes);
  if (have == lanes) return value;
  std::vector<int> mask;
  for (int i = 0; i < lanes; ++i) mask.push_back(std::min(first + i, have - 1));
  return ir.shuffle(value, nullptr, mask);
}

}  // namespace

Value call_lanewise(Ir& ir, const std::string& name, std::span<const Value> args) {
  LLVMTypeRef type = LLVMTypeOf(args[0]), element = Ir::element_of(type);
  int lanes = Ir::lanes_of(type);
  Value result = lanes == 1 ? nullptr : LLVMGetPoison(type);
  for (int i = 0; i < lanes; ++i) {
    std::vector<Value> scalars;
    for (Value a : args) scalars.push_back(ir.lane(a, i));
    Value one = ir.call_external(name, element, scalars);
    result = lanes == 1 ? one : ir.insert(result, one, i);
  }
  return result;
}

Value call_vector(Ir& ir, const std::string& name, std::span<const Value> args) {
  LLVMTypeRef element = Ir::element_of(LLVMTypeOf(args[0]));
  VectorAbi abi = vector_abi(ir.cpu());
  int width = abi.bytes / (is_f32(args[0]) ? 4 : 8), lanes = Ir::lanes_of(args[0]);
  std::string vector_name =
      fmt::format("_ZGV{}N{}{}_{}", abi.letter, width, std::string(args.size(), 'v'), name);
  if (!ir.cpu().x86() || !ir.cpu().resolve(vector_name.c_str()))
    return call_lanewise(ir, name, args);
  std::vector<Value> parts;
  for (int first = 0; first < lanes; first += width) {
    std::vector<Value> slices;
    for (Value a : args) slices.push_back(padded_slice(ir, a, first, width));
    parts.push_back(ir.call_external(vector_name, ir.vector_type(element, width), slices));
  }
  Value whole = ir.concat(std::move(parts));
  return ir.slice(whole, 0, lanes);
}

Value emit_math(Ir& ir, Intrinsic fn, std::span<const Value> args) {
  if (const char* name = rounding_intrinsic(fn)) return ir.unary(name, args[0]);
  if (Inline own = own_function(fn); own && is_f32(args[0])) return own(ir, args[0]);
  return call_vector(ir, std::string(info(fn).name) + (is_f32(args[0]) ? "f" : ""), args);
}

}  // namespace fuseline::emit
