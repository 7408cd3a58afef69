// The type rules of Loop IR's arithmetic.
#include "fuse/loop_types.hpp"

#include <bit>

namespace fuseline::loop {
namespace {

bool is_combining(Intrinsic fn) {
  switch (fn) {
    case Intrinsic::add:
    case Intrinsic::mul:
    case Intrinsic::min:
    case Intrinsic::max:
    case Intrinsic::bit_and:
    case Intrinsic::bit_or:
    case Intrinsic::bit_xor:
      return true;
    default:
      return false;
  }
}

const char* compute_fault(const Inst& inst, std::span<const Type> operands) {
  Type operand = operands[0];
  for (Type other : operands)
    if (other != operand) return "operands of compute have one type";
  if (!accepts(inst.fn, operand.dtype)) return "the intrinsic does not take this type";
  if (info(inst.fn).cls == IntrinsicClass::cmp) operand.dtype = DType::bool_;
  if (inst.type != operand) return "the result of compute has the operands' type (or bool)";
  return nullptr;
}

const char* select_fault(const Inst& inst, std::span<const Type> operands) {
  if (operands[0] != Type{DType::bool_, inst.type.lanes})
    return "select needs a bool for every lane";
  if (operands[1] != inst.type || operands[2] != inst.type)
    return "both sides of a select have its type";
  return nullptr;
}

const char* round_fault(const Inst& inst, Type from) {
  if (inst.type.dtype != DType::f32 || from != inst.type) return "round_to takes and gives f32";
  bool half = inst.imm == static_cast<std::uint64_t>(DType::f16) ||
              inst.imm == static_cast<std::uint64_t>(DType::bf16);
  return half ? nullptr : "round_to goes through f16 or bf16";
}

const char* cast_fault(const Inst& inst, Type from) {
  if (from.lanes != inst.type.lanes) return "a cast keeps the lanes";
  if (inst.mode == CastMode::saturate && !(is_float(from.dtype) && is_integer(inst.type.dtype)))
    return "a saturating cast goes from floating point to an integer";
  return nullptr;
}

const char* bitcast_fault(const Inst& inst, Type from) {
  DType a = from.dtype, b = inst.type.dtype;
  if (from.lanes != inst.type.lanes) return "a bitcast keeps the lanes";
  if (size_of(a) != size_of(b) || size_of(b) < 4 || is_float(a) == is_float(b))
    return "bitcast: f32 to or from u32 and i32, f64 to or from u64 and i64";
  return nullptr;
}

const char* reduce_fault(const Inst& inst, Type from) {
  if (!is_combining(inst.fn) || !accepts(inst.fn, inst.type.dtype))
    return "reduce_lanes needs a commutative intrinsic that takes this type";
  if (!std::has_single_bit(static_cast<unsigned>(from.lanes)))
    return "reduce_lanes needs a power of two of lanes";
  if (inst.type != Type{from.dtype, 1}) return "reduce_lanes gives one lane of the operand's type";
  return nullptr;
}

std::size_t operand_count(const Inst& inst) {
  if (inst.op == Op::compute) return static_cast<std::size_t>(info(inst.fn).arity);
  return inst.op == Op::select ? 3 : 1;
}

}  // namespace

bool accepts(Intrinsic fn, DType type) {
  switch (info(fn).cls) {
    case IntrinsicClass::arith:
      return !is_bool(type);
    case IntrinsicClass::real:
      return is_float(type);
    case IntrinsicClass::logic:
      if (fn == Intrinsic::shl || fn == Intrinsic::shr) return is_integer(type);
      return !is_float(type);
    case IntrinsicClass::cmp:
      return true;
  }
  return false;
}

const char* type_fault(const Inst& inst, std::span<const Type> operands) {
  if (operands.size() != operand_count(inst)) return "wrong number of operands";
  Type from = operands[0], t = inst.type;
  switch (inst.op) {
    case Op::compute:
      return compute_fault(inst, operands);
    case Op::select:
      return select_fault(inst, operands);
    case Op::round_to:
      return round_fault(inst, from);
    case Op::cast:
      return cast_fault(inst, from);
    case Op::bitcast:
      return bitcast_fault(inst, from);
    case Op::reduce_lanes:
      return reduce_fault(inst, from);
    case Op::splat:
      return from == Type{t.dtype, 1} ? nullptr : "splat takes one lane of the result's type";
    case Op::ramp:
      return from == Type{t.dtype, 1} && is_integer(t.dtype) ? nullptr
                                                             : "ramp takes one integer lane";
    case Op::count_lanes:
      return is_bool(from.dtype) && t == Type{DType::i32, 1} ? nullptr
                                                             : "count_lanes: bool lanes to i32";
    default:
      return "an instruction that the verifier does not know";
  }
}

}  // namespace fuseline::loop
