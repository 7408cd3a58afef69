// ONNX's element types.
#include "onnx/element_type.hpp"

#include "base/fail.hpp"

namespace fuseline::onnx {
namespace {

constexpr const char* names[] = {
    "undefined",      "float32",    "uint8",          "int8",       "uint16",    "int16",
    "int32",          "int64",      "string",         "bool",       "float16",   "float64",
    "uint32",         "uint64",     "complex64",      "complex128", "bfloat16",  "float8e4m3fn",
    "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",      "int4",      "float4e2m1",
    "float8e8m0",     "uint2",      "int2",           "float6e2m3", "float6e3m2"};

}  // namespace

std::string name_of_element(int type) {
  if (type < 0 || type >= static_cast<int>(std::size(names))) return fmt::format("type {}", type);
  return names[type];
}

bool is_float8(int type) {
  return (type >= float8e4m3fn && type <= float8e5m2fnuz) || type == float8e8m0;
}

DType held_as(int type) {
  if (is_float8(type)) return DType::u8;
  switch (type) {
    case float32:
      return DType::f32;
    case uint8:
      return DType::u8;
    case int8:
      return DType::i8;
    case uint16:
      return DType::u16;
    case int16:
      return DType::i16;
    case int32:
      return DType::i32;
    case int64:
      return DType::i64;
    case boolean:
      return DType::bool_;
    case float16:
      return DType::f16;
    case float64:
      return DType::f64;
    case uint32:
      return DType::u32;
    case uint64:
      return DType::u64;
    case bfloat16:
      return DType::bf16;
    default:
      fail("element type {} is not supported", name_of_element(type));
  }
}

int element_type_of(DType dtype) {
  switch (dtype) {
    case DType::bool_:
      return boolean;
    case DType::u8:
      return uint8;
    case DType::i8:
      return int8;
    case DType::u16:
      return uint16;
    case DType::i16:
      return int16;
    case DType::u32:
      return uint32;
    case DType::i32:
      return int32;
    case DType::u64:
      return uint64;
    case DType::i64:
      return int64;
    case DType::f16:
      return float16;
    case DType::bf16:
      return bfloat16;
    case DType::f32:
      return float32;
    case DType::f64:
      return float64;
  }
  fail_internal("an element type without an ONNX type");
}

}  // namespace fuseline::onnx
