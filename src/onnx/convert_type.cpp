// 8-bit floats by tables: decoding looks the byte up, encoding counts how many of the limits
// between neighbouring numbers lie below.
#include "onnx/convert_type.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "base/fail.hpp"

namespace fuseline::onnx {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// An 8-bit float format.
struct Float8 {
  int mantissa_bits;
  int bias;
  int largest;       // the code of the largest number
  int not_a_number;  // its code; the sign bit is added where `signed_zero`
  int overflow;      // the code beyond the largest number without saturation
  bool signed_zero;  // false: the sign bit alone is the NaN
};

Float8 format_of(int type) {
  switch (type) {
    case float8e4m3fn:
      return {3, 7, 0x7e, 0x7f, 0x7f, true};
    case float8e4m3fnuz:
      return {3, 8, 0x7f, 0x80, 0x80, false};
    case float8e5m2:
      return {2, 15, 0x7b, 0x7f, 0x7c, true};
    case float8e5m2fnuz:
      return {2, 16, 0x7f, 0x80, 0x80, false};
    default:
      fail_internal("not an 8-bit float with a sign");
  }
}

double magnitude(const Float8& f, int code) {
  int exponent = code >> f.mantissa_bits, fraction = code & ((1 << f.mantissa_bits) - 1);
  double unit = std::ldexp(1.0, -f.mantissa_bits);
  if (exponent == 0) return std::ldexp(fraction * unit, 1 - f.bias);
  return std::ldexp(1 + fraction * unit, exponent - f.bias);
}

double decode(int type, int byte) {
  if (type == float8e8m0) return byte == 255 ? nan : std::ldexp(1.0, byte - 127);
  Float8 f = format_of(type);
  int code = byte & 0x7f;
  double sign = byte & 0x80 ? -1 : 1;
  if (!f.signed_zero && byte == 0x80) return nan;
  if (f.signed_zero && code > f.largest)
    return code == f.overflow && code != f.not_a_number ? sign * infinity : nan;
  return sign * magnitude(f, code);
}

Value constant_list(Graph& graph, const std::vector<float>& values) {
  Tensor tensor = Tensor::allocate(DType::f32, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.as<float>());
  return graph.apply(OpCode::constant, {}, {{"value", tensor}});
}

Value decode_all(const Operand& x) {
  std::vector<float> table;
  for (int byte = 0; byte < 256; ++byte) table.push_back(static_cast<float>(decode(x.type, byte)));
  return gather(constant_list(x.value.graph(), table), x.value, 0);
}

// How many limits are not above x, as u8.
Value count_limits(const Value& x, const std::vector<float>& limits) {
  Value reached = unsqueeze(x, {-1}) >= constant_list(x.graph(), limits);
  std::int64_t last = static_cast<std::int64_t>(x.dims().size());
  return cast(reduce_sum(cast(reached, DType::i32), {last}), DType::u8);
}

// The smallest float that is rounded to the upper of two neighbours.
float tie_limit(double lower, double upper, bool up_at_tie) {
  auto middle = static_cast<float>((lower + upper) / 2);
  return up_at_tie ? middle : std::nextafter(middle, std::numeric_limits<float>::infinity());
}

Value byte(const Value& like, int value) {
  return like.graph().constant(DType::u8, std::int64_t{value});
}

Value encode(const Value& x, int type, bool saturate) {
  Float8 f = format_of(type);
  std::vector<float> limits;
  for (int code = 0; code < f.largest; ++code)
    limits.push_back(tie_limit(magnitude(f, code), magnitude(f, code + 1), code % 2 == 1));
  Value code = count_limits(abs(x), limits);
  if (!saturate) {
    // Half a step beyond the largest number.
    double step = magnitude(f, f.largest) - magnitude(f, f.largest - 1);
    double largest = magnitude(f, f.largest);
    float limit = tie_limit(largest, largest + step, f.largest % 2 == 1);
    code = where(abs(x) >= static_cast<double>(limit), byte(x, f.overflow), code);
  }
  Value negative = (x < 0) | ((x == 0) & (1 / x < 0));
  if (!f.signed_zero) negative = negative & (code != 0);
  code = where(negative, code | byte(x, 0x80), code);
  return where(is_nan(x), byte(x, f.not_a_number), code);
}

// Powers of two from 2^-127 to 2^127.
Value encode_e8m0(const Value& x, bool saturate, std::string_view round_mode) {
  std::vector<float> limits;
  for (int code = 0; code < 254; ++code) {
    double lower = std::ldexp(1.0, code - 127), upper = 2 * lower;
    auto exact = static_cast<float>(upper);
    float above = std::nextafter(static_cast<float>(lower), std::numeric_limits<float>::infinity());
    limits.push_back(round_mode == "down" ? exact
                     : round_mode == "up" ? above
                                          : tie_limit(lower, upper, true));
  }
  Value code = count_limits(abs(x), limits);
  if (!saturate) code = where(abs(x) == infinity, byte(x, 255), code);
  return where(is_nan(x), byte(x, 255), code);
}

}  // namespace

Value convert_type(const Operand& x, int type, bool saturate, std::string_view round_mode) {
  if (x.type == type) return x.value;
  Value value = is_float8(x.type) ? decode_all(x) : x.value;
  if (!is_float8(type)) {
    DType to = held_as(type);
    // Any number but 0 is true.
    if (is_bool(to) && !is_bool(value.dtype())) return value != 0;
    return cast(value, to);
  }
  Value wide = cast(value, DType::f32);
  return type == float8e8m0 ? encode_e8m0(wide, saturate, round_mode)
                            : encode(wide, type, saturate);
}

}  // namespace fuseline::onnx
