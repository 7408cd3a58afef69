// Scalar intrinsics of the classes arith, logic and cmp, rounding, and selection of the rest.
#include "emit/llvm/arithmetic.hpp"

#include "base/fail.hpp"
#include "emit/llvm/math.hpp"

namespace fuseline::emit {
namespace {

Value integer_arith(Ir& ir, Intrinsic fn, bool is_signed, std::span<const Value> a) {
  LLVMBuilderRef b = ir.builder();
  switch (fn) {
    case Intrinsic::add:
      return LLVMBuildAdd(b, a[0], a[1], "");
    case Intrinsic::sub:
      return LLVMBuildSub(b, a[0], a[1], "");
    case Intrinsic::mul:
      return LLVMBuildMul(b, a[0], a[1], "");
    case Intrinsic::div:
      return is_signed ? LLVMBuildSDiv(b, a[0], a[1], "") : LLVMBuildUDiv(b, a[0], a[1], "");
    case Intrinsic::rem:
      return is_signed ? LLVMBuildSRem(b, a[0], a[1], "") : LLVMBuildURem(b, a[0], a[1], "");
    case Intrinsic::min:
      return ir.binary(is_signed ? "llvm.smin" : "llvm.umin", a[0], a[1]);
    case Intrinsic::max:
      return ir.binary(is_signed ? "llvm.smax" : "llvm.umax", a[0], a[1]);
    case Intrinsic::neg:
      return LLVMBuildNeg(b, a[0], "");
    case Intrinsic::abs: {
      if (!is_signed) return a[0];
      LLVMTypeRef type = LLVMTypeOf(a[0]);
      Value args[] = {a[0], ir.integer(ir.integer_type(1), 0)};
      return ir.intrinsic("llvm.abs", {&type, 1}, args);
    }
    default:
      fail_internal("an arithmetic intrinsic without integer code");
  }
}

// a where it compares (or is NaN), else b: NaN of either operand is the result.
Value float_extreme(Ir& ir, LLVMRealPredicate order, Value a, Value b) {
  LLVMBuilderRef builder = ir.builder();
  Value picked = LLVMBuildSelect(builder, LLVMBuildFCmp(builder, order, a, b, ""), a, b, "");
  return LLVMBuildSelect(builder, LLVMBuildFCmp(builder, LLVMRealUNO, a, a, ""), a, picked, "");
}

Value float_remainder(Ir& ir, Value a, Value b) {
  const char* name =
      LLVMGetTypeKind(Ir::element_of(LLVMTypeOf(a))) == LLVMFloatTypeKind ? "fmodf" : "fmod";
  Value args[] = {a, b};
  return call_lanewise(ir, name, args);
}

Value float_arith(Ir& ir, Intrinsic fn, std::span<const Value> a) {
  LLVMBuilderRef b = ir.builder();
  switch (fn) {
    case Intrinsic::add:
      return LLVMBuildFAdd(b, a[0], a[1], "");
    case Intrinsic::sub:
      return LLVMBuildFSub(b, a[0], a[1], "");
    case Intrinsic::mul:
      return LLVMBuildFMul(b, a[0], a[1], "");
    case Intrinsic::div:
      return LLVMBuildFDiv(b, a[0], a[1], "");
    case Intrinsic::rem:
      return float_remainder(ir, a[0], a[1]);
    case Intrinsic::min:
      return float_extreme(ir, LLVMRealOLT, a[0], a[1]);
    case Intrinsic::max:
      return float_extreme(ir, LLVMRealOGT, a[0], a[1]);
    case Intrinsic::neg:
      return LLVMBuildFNeg(b, a[0], "");
    case Intrinsic::abs:
      return ir.unary("llvm.fabs", a[0]);
    default:
      fail_internal("an arithmetic intrinsic without floating-point code");
  }
}

Value logic(Ir& ir, Intrinsic fn, bool is_signed, std::span<const Value> a) {
  LLVMBuilderRef b = ir.builder();
  switch (fn) {
    case Intrinsic::bit_and:
      return LLVMBuildAnd(b, a[0], a[1], "");
    case Intrinsic::bit_or:
      return LLVMBuildOr(b, a[0], a[1], "");
    case Intrinsic::bit_xor:
      return LLVMBuildXor(b, a[0], a[1], "");
    case Intrinsic::bit_not:
      return LLVMBuildNot(b, a[0], "");
    case Intrinsic::shl:
      return LLVMBuildShl(b, a[0], a[1], "");
    case Intrinsic::shr:
      return is_signed ? LLVMBuildAShr(b, a[0], a[1], "") : LLVMBuildLShr(b, a[0], a[1], "");
    default:
      fail_internal("a logic intrinsic without code");
  }
}

Value compare(Ir& ir, Intrinsic fn, DType operand, Value x, Value y) {
  LLVMBuilderRef b = ir.builder();
  if (is_float(operand)) {
    LLVMRealPredicate p = fn == Intrinsic::eq   ? LLVMRealOEQ
                          : fn == Intrinsic::ne ? LLVMRealUNE
                          : fn == Intrinsic::lt ? LLVMRealOLT
                                                : LLVMRealOLE;
    return LLVMBuildFCmp(b, p, x, y, "");
  }
  bool is_signed = is_signed_integer(operand);
  LLVMIntPredicate p = fn == Intrinsic::eq   ? LLVMIntEQ
                       : fn == Intrinsic::ne ? LLVMIntNE
                       : fn == Intrinsic::lt ? (is_signed ? LLVMIntSLT : LLVMIntULT)
                                             : (is_signed ? LLVMIntSLE : LLVMIntULE);
  return LLVMBuildICmp(b, p, x, y, "");
}

}  // namespace

Value emit_compute(Ir& ir, Intrinsic fn, loop::Type operand, std::span<const Value> args) {
  bool is_signed = is_signed_integer(operand.dtype);
  switch (info(fn).cls) {
    case IntrinsicClass::arith:
      return is_float(operand.dtype) ? float_arith(ir, fn, args)
                                     : integer_arith(ir, fn, is_signed, args);
    case IntrinsicClass::logic:
      return logic(ir, fn, is_signed, args);
    case IntrinsicClass::cmp:
      return compare(ir, fn, operand.dtype, args[0], args[1]);
    case IntrinsicClass::real:
      return emit_math(ir, fn, args);
  }
  fail_internal("an intrinsic of an unknown class");
}

namespace {

int width_of(DType t) { return is_bool(t) ? 1 : static_cast<int>(8 * size_of(t)); }

// Out of range goes to the limit, NaN to 0. Narrow results are clamped as floats and converted
// through i32, which every target has as a vector instruction; LLVM's own intrinsic does the rest.
Value saturate(Ir& ir, Value value, loop::Type to) {
  LLVMBuilderRef b = ir.builder();
  LLVMTypeRef result = ir.register_type(to), from = LLVMTypeOf(value);
  bool is_signed = is_signed_integer(to.dtype);
  int width = width_of(to.dtype);
  if (width > 16) {
    LLVMTypeRef types[] = {result, from};
    return ir.intrinsic(is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", types, {&value, 1});
  }
  double span = static_cast<double>(1 << (is_signed ? width - 1 : width));
  Value low = ir.real(from, is_signed ? -span : 0), high = ir.real(from, span - 1);
  if (is_signed) {
    Value ordered = LLVMBuildFCmp(b, LLVMRealORD, value, value, "");
    value = LLVMBuildSelect(b, ordered, value, ir.real(from, 0), "");
  }
  // An unordered comparison picks the lower limit, which is 0 for unsigned results.
  value = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOGT, value, low, ""), value, low, "");
  value = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, value, high, ""), value, high, "");
  Value wide = LLVMBuildFPToSI(b, value, ir.integer_type(32, to.lanes), "");
  return LLVMBuildTrunc(b, wide, result, "");
}

Value float_to_integer(Ir& ir, Value value, loop::Type to) {
  LLVMBuilderRef b = ir.builder();
  LLVMTypeRef result = ir.register_type(to);
  if (width_of(to.dtype) < 32) {
    Value wide = LLVMBuildFPToSI(b, value, ir.integer_type(32, to.lanes), "");
    return LLVMBuildTrunc(b, wide, result, "");
  }
  return is_signed_integer(to.dtype) ? LLVMBuildFPToSI(b, value, result, "")
                                     : LLVMBuildFPToUI(b, value, result, "");
}

}  // namespace

Value emit_cast(Ir& ir, Value value, loop::Type from, loop::Type to, loop::CastMode mode) {
  LLVMBuilderRef b = ir.builder();
  LLVMTypeRef result = ir.register_type(to);
  if (from.dtype == to.dtype) return value;
  if (is_float(from.dtype)) {
    if (is_bool(to.dtype))
      return LLVMBuildFCmp(b, LLVMRealUNE, value, ir.real(LLVMTypeOf(value), 0), "");
    if (is_float(to.dtype)) return LLVMBuildFPCast(b, value, result, "");
    if (mode == loop::CastMode::saturate) return saturate(ir, value, to);
    return float_to_integer(ir, value, to);
  }
  if (is_bool(to.dtype))
    return LLVMBuildICmp(b, LLVMIntNE, value, ir.integer(LLVMTypeOf(value), 0), "");
  bool is_signed = is_signed_integer(from.dtype);
  if (is_float(to.dtype))
    return is_signed ? LLVMBuildSIToFP(b, value, result, "")
                     : LLVMBuildUIToFP(b, value, result, "");
  int from_width = width_of(from.dtype), to_width = width_of(to.dtype);
  if (from_width > to_width) return LLVMBuildTrunc(b, value, result, "");
  if (from_width == to_width) return value;
  return is_signed ? LLVMBuildSExt(b, value, result, "") : LLVMBuildZExt(b, value, result, "");
}

}  // namespace fuseline::emit
