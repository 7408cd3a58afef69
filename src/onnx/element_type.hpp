// ONNX's element types and how they are held: the 8-bit floats as the bytes that encode them.
#pragma once

#include <string>

#include "fuseline/dtype.hpp"

namespace fuseline::onnx {

enum ElementType : int {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  float8e8m0 = 24,
};

// The type that holds it; Error for types that Fuseline does not have.
DType held_as(int type);
// The ONNX type of a tensor of ours.
int element_type_of(DType dtype);
bool is_float8(int type);
// "float16", "float8e5m2", "string", ...
std::string name_of_element(int type);

}  // namespace fuseline::onnx
