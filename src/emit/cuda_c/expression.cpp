// Scalar expressions of CUDA C.
#include "emit/cuda_c/expression.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "base/fail.hpp"

namespace fuseline::cuda_c {
namespace {

// Decimal digits only where nothing can be rounded; else hexadecimal, the digits as a comment.
template <class Float>
std::string float_literal(Float value, const char* suffix) {
  bool whole = value == std::floor(value) && std::fabs(value) < 1e6;
  std::string text;
  if (whole)
    text = fmt::format("{:.1f}{}", value, suffix);
  else
    text = fmt::format("{:a}{} /* {} */", static_cast<double>(value), suffix, value);
  return std::signbit(value) ? "(" + text + ")" : text;
}

// Unsigned type in which a type's arithmetic wraps; the small ones would widen to int.
std::string_view wrapping_type(DType type) { return size_of(type) == 8 ? "u64" : "u32"; }

bool wraps_by_itself(DType type) { return type == DType::u32 || type == DType::u64; }

std::string wrapping(const char* op, DType type, const std::string& a, const std::string& b) {
  if (is_float(type) || wraps_by_itself(type)) return fmt::format("{} {} {}", a, op, b);
  std::string_view wide = wrapping_type(type);
  return fmt::format("({})(({}){} {} ({}){})", register_name(type), wide, a, op, wide, b);
}

// Types below 32 bits are computed as int and brought back.
std::string narrowed(const char* op, DType type, const std::string& a, const std::string& b) {
  if (size_of(type) >= 4 || is_bool(type)) return fmt::format("{} {} {}", a, op, b);
  return fmt::format("({})({} {} {})", register_name(type), a, op, b);
}

std::string negated(DType type, const std::string& a) {
  if (is_float(type)) return "-" + a;
  return fmt::format("({})(({})0 - ({}){})", register_name(type), wrapping_type(type),
                     wrapping_type(type), a);
}

std::string absolute(DType type, const std::string& a) {
  if (type == DType::f32) return fmt::format("fabsf({})", a);
  if (type == DType::f64) return fmt::format("fabs({})", a);
  if (!is_signed_integer(type)) return a;
  return fmt::format("{} < 0 ? {} : {}", a, negated(type, a), a);
}

std::string unary(Intrinsic fn, DType type, const std::string& a) {
  switch (fn) {
    case Intrinsic::neg:
      return negated(type, a);
    case Intrinsic::abs:
      return absolute(type, a);
    case Intrinsic::bit_not:
      return is_bool(type) ? "!" + a : fmt::format("({})~{}", register_name(type), a);
    default:
      break;
  }
  // The names in the table are those of C's mathematical functions.
  require(info(fn).cls == IntrinsicClass::real, "a unary intrinsic without CUDA text");
  return fmt::format("{}{}({})", info(fn).name, type == DType::f32 ? "f" : "", a);
}

std::string minmax(const char* op, const char* name, DType type, const std::string& a,
                   const std::string& b) {
  if (is_float(type)) return fmt::format("{}({}, {})", name, a, b);
  return fmt::format("{} {} {} ? {} : {}", a, op, b, a, b);
}

std::string logic(const char* op, const char* bool_op, DType type, const std::string& a,
                  const std::string& b) {
  return is_bool(type) ? fmt::format("{} {} {}", a, bool_op, b) : narrowed(op, type, a, b);
}

std::string function(const char* name, DType type, const std::string& a, const std::string& b) {
  return fmt::format("{}{}({}, {})", name, type == DType::f32 ? "f" : "", a, b);
}

std::string cast(const loop::Inst& inst, const std::string& a, DType from) {
  DType to = inst.type.dtype;
  if (is_bool(to)) return is_float(from) ? a + " != 0.0f" : a + " != 0";
  if (inst.mode == loop::CastMode::saturate)
    return fmt::format("saturate<{}>({})", register_name(to), a);
  return fmt::format("({}){}", register_name(to), a);
}

}  // namespace

std::string_view register_name(DType type) {
  require(type != DType::f16 && type != DType::bf16, "f16 or bf16 in a register");
  return name_of(type);
}

std::string_view memory_name(DType type) { return is_bool(type) ? "u8" : name_of(type); }

std::string literal(DType type, std::uint64_t bits) {
  auto as_signed = static_cast<std::int64_t>(bits);
  switch (type) {
    case DType::bool_:
      return bits ? "true" : "false";
    case DType::u8:
    case DType::u16:
      return fmt::format("({}){}", register_name(type), bits);
    case DType::i8:
      return fmt::format("(i8){}", static_cast<std::int8_t>(bits));
    case DType::i16:
      return fmt::format("(i16){}", static_cast<std::int16_t>(bits));
    case DType::u32:
      return fmt::format("{}u", bits);
    case DType::u64:
      return fmt::format("{}ull", bits);
    case DType::i32: {
      auto value = static_cast<std::int32_t>(bits);
      if (value == INT32_MIN) return "(-2147483647 - 1)";
      return value < 0 ? fmt::format("({})", value) : fmt::format("{}", value);
    }
    case DType::i64:
      if (as_signed == INT64_MIN) return "(-9223372036854775807ll - 1)";
      return as_signed < 0 ? fmt::format("({}ll)", as_signed) : fmt::format("{}ll", as_signed);
    case DType::f32: {
      auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      if (!std::isfinite(value)) return fmt::format("as_f32({:#x}u)", bits);
      return float_literal(value, "f");
    }
    case DType::f64: {
      auto value = std::bit_cast<double>(bits);
      if (!std::isfinite(value)) return fmt::format("as_f64({:#x}ull)", bits);
      return float_literal(value, "");
    }
    case DType::f16:
    case DType::bf16:
      break;
  }
  fail_internal("a constant of a type that registers do not have");
}

std::string binary(Intrinsic fn, DType type, const std::string& a, const std::string& b) {
  switch (fn) {
    case Intrinsic::add:
      return wrapping("+", type, a, b);
    case Intrinsic::sub:
      return wrapping("-", type, a, b);
    case Intrinsic::mul:
      return wrapping("*", type, a, b);
    case Intrinsic::div:
      return narrowed("/", type, a, b);
    case Intrinsic::rem:
      return is_float(type) ? function("fmod", type, a, b) : narrowed("%", type, a, b);
    case Intrinsic::min:
      return minmax("<", "min_nan", type, a, b);
    case Intrinsic::max:
      return minmax(">", "max_nan", type, a, b);
    case Intrinsic::pow:
      return function("pow", type, a, b);
    case Intrinsic::atan2:
      return function("atan2", type, a, b);
    case Intrinsic::bit_and:
      return logic("&", "&&", type, a, b);
    case Intrinsic::bit_or:
      return logic("|", "||", type, a, b);
    case Intrinsic::bit_xor:
      return logic("^", "!=", type, a, b);
    case Intrinsic::shl:
      return fmt::format("({})(({}){} << {})", register_name(type), wrapping_type(type), a, b);
    case Intrinsic::shr:
      return narrowed(">>", type, a, b);
    case Intrinsic::eq:
      return fmt::format("{} == {}", a, b);
    case Intrinsic::ne:
      return fmt::format("{} != {}", a, b);
    case Intrinsic::lt:
      return fmt::format("{} < {}", a, b);
    case Intrinsic::le:
      return fmt::format("{} <= {}", a, b);
    default:
      break;
  }
  fail_internal("a binary intrinsic without CUDA text");
}

std::string expression(const loop::Inst& inst, const std::vector<std::string>& args,
                       DType operand) {
  switch (inst.op) {
    case loop::Op::compute:
      return info(inst.fn).arity == 1 ? unary(inst.fn, operand, args[0])
                                      : binary(inst.fn, operand, args[0], args[1]);
    case loop::Op::select:
      return fmt::format("{} ? {} : {}", args[0], args[1], args[2]);
    case loop::Op::cast:
      return cast(inst, args[0], operand);
    case loop::Op::bitcast:
      return fmt::format("as_{}({})", register_name(inst.type.dtype), args[0]);
    case loop::Op::round_to: {
      DType memory = static_cast<DType>(inst.imm);
      return from_memory(memory, to_memory(memory, args[0]));
    }
    default:
      break;
  }
  fail_internal("an instruction that is no expression");
}

std::string from_memory(DType memory, const std::string& text) {
  if (is_bool(memory)) return text + " != 0";
  if (memory == DType::f16 || memory == DType::bf16)
    return fmt::format("from_{}({})", name_of(memory), text);
  return text;
}

std::string to_memory(DType memory, const std::string& text) {
  if (is_bool(memory)) return "(u8)" + text;
  if (memory == DType::f16 || memory == DType::bf16)
    return fmt::format("to_{}({})", name_of(memory), text);
  return text;
}

}  // namespace fuseline::cuda_c
