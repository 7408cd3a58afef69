// Arithmetic, comparison, logic, rounding, trigonometry: operators that are one row of the op table
// or a few of them.
#include <cmath>
#include <limits>

#include "base/fail.hpp"
#include "graph/op_table.hpp"
#include "graph/scalar.hpp"
#include "onnx/operators.hpp"

namespace fuseline::onnx {
namespace {

template <OpCode op>
void unary(Context& c) {
  c.out(c.graph.apply(op, {c.in(0)}));
}

template <OpCode op>
void binary(Context& c) {
  c.out(c.graph.apply(op, {c.in(0), c.in(1)}));
}

// Any number of operands, two by two.
template <OpCode op>
void variadic(Context& c) {
  Value result = c.in(0);
  for (std::size_t i = 1; i < c.count(); ++i) result = c.graph.apply(op, {result, c.in(i)});
  c.out(result);
}

void mean(Context& c) {
  Value sum = c.in(0);
  for (std::size_t i = 1; i < c.count(); ++i) sum = sum + c.in(i);
  c.out(sum / static_cast<double>(c.count()));
}

void mod(Context& c) {
  bool c_like = c.integer("fmod", 0) != 0;
  c.out(c_like ? rem(c.in(0), c.in(1)) : fuseline::mod(c.in(0), c.in(1)));
}

// Integer powers by squaring of 64-bit integers would need a loop; f64 is exact up to 2^53.
void pow(Context& c) {
  Value x = c.in(0), y = c.in(1);
  DType result = x.dtype();
  if (!is_float(result)) {
    Value power = fuseline::pow(cast(x, DType::f64), cast(y, DType::f64));
    c.out(cast(power, result, Rounding::nearest));
    return;
  }
  if (y.dtype() == DType::f64 && result != DType::f64) {
    c.out(cast(fuseline::pow(cast(x, DType::f64), y), result));
    return;
  }
  c.out(fuseline::pow(x, cast(y, result)));
}

void bit_shift(Context& c) {
  std::string direction = c.choice("direction", "", {"LEFT", "RIGHT"});
  c.out(direction == "LEFT" ? c.in(0) << c.in(1) : c.in(0) >> c.in(1));
}

void is_inf(Context& c) {
  Value x = c.in(0);
  double infinity = std::numeric_limits<double>::infinity();
  bool up = c.integer("detect_positive", 1) != 0, down = c.integer("detect_negative", 1) != 0;
  if (up && down) return c.out(fuseline::is_inf(x));
  if (!up && !down) return c.out(cast(x != x, DType::bool_) & (x == x));
  c.out(x == (up ? infinity : -infinity));
}

Value limit(Context& c, std::size_t i, const char* attribute, bool upper) {
  Value x = c.in(0);
  if (c.opset >= 11 && c.has(i)) return reshape(c.in(i), {});
  if (c.opset < 11 && c.has_attribute(attribute)) return number(x, c.real(attribute, 0));
  if (is_float(x.dtype())) {
    double infinity = std::numeric_limits<double>::infinity();
    return number(x, upper ? infinity : -infinity);
  }
  Number end = identity_of(upper ? Intrinsic::min : Intrinsic::max, x.dtype());
  Tensor scalar = Tensor::allocate(x.dtype(), {});
  store_number(scalar.data(), x.dtype(), end);
  return c.graph.apply(OpCode::constant, {}, {{"value", scalar}});
}

void clip(Context& c) {
  bool low = c.has(1) || c.has_attribute("min"), high = c.has(2) || c.has_attribute("max");
  if (!low && !high) return c.out(c.in(0));
  c.out(fuseline::clip(c.in(0), limit(c, 1, "min", false), limit(c, 2, "max", true)));
}

void where(Context& c) { c.out(fuseline::where(c.in(0), c.in(1), c.in(2))); }

// By minors of the first row.
Value determinant(const Value& m, std::vector<std::int64_t> columns, std::int64_t row) {
  auto element = [&](std::int64_t column) { return pick(pick(m, -2, row), -1, column); };
  if (columns.size() == 1) return element(columns[0]);
  std::optional<Value> sum;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    std::vector<std::int64_t> rest = columns;
    rest.erase(rest.begin() + static_cast<long>(k));
    Value term = element(columns[k]) * determinant(m, rest, row + 1);
    if (!sum)
      sum = term;
    else
      sum = k % 2 ? *sum - term : *sum + term;
  }
  return *sum;
}

void det(Context& c) {
  const Dims dims = c.in(0).dims();
  if (dims.size() < 2 || !dims.back().is_constant() || dims.back() != dims[dims.size() - 2])
    fail("square matrices of a known size are needed, not {}", to_string(dims));
  std::int64_t n = dims.back().constant();
  if (n < 1 || n > 5) fail("matrices of {} rows; 1 to 5 are supported", n);
  std::vector<std::int64_t> columns;
  for (std::int64_t k = 0; k < n; ++k) columns.push_back(k);
  c.out(determinant(c.in(0), columns, 0));
}

constexpr OperatorRow rows[] = {
    {"Abs", 1, unary<OpCode::abs>},
    {"Neg", 1, unary<OpCode::neg>},
    {"Sign", 1, unary<OpCode::sign>},
    {"Floor", 1, unary<OpCode::floor>},
    {"Ceil", 1, unary<OpCode::ceil>},
    {"Round", 1, unary<OpCode::round>},
    {"Sqrt", 1, unary<OpCode::sqrt>},
    {"Reciprocal", 1, unary<OpCode::reciprocal>},
    {"Exp", 1, unary<OpCode::exp>},
    {"Log", 1, unary<OpCode::log>},
    {"Sin", 1, unary<OpCode::sin>},
    {"Cos", 1, unary<OpCode::cos>},
    {"Tan", 1, unary<OpCode::tan>},
    {"Asin", 1, unary<OpCode::asin>},
    {"Acos", 1, unary<OpCode::acos>},
    {"Atan", 1, unary<OpCode::atan>},
    {"Sinh", 1, unary<OpCode::sinh>},
    {"Cosh", 1, unary<OpCode::cosh>},
    {"Tanh", 1, unary<OpCode::tanh>},
    {"Asinh", 1, unary<OpCode::asinh>},
    {"Acosh", 1, unary<OpCode::acosh>},
    {"Atanh", 1, unary<OpCode::atanh>},
    {"Erf", 1, unary<OpCode::erf>},
    {"Not", 1, unary<OpCode::logical_not>},
    {"IsNaN", 1, unary<OpCode::is_nan>},
    {"IsInf", 1, is_inf},
    {"BitwiseNot", 1, unary<OpCode::logical_not>},
    {"Add", 7, binary<OpCode::add>},
    {"Sub", 7, binary<OpCode::sub>},
    {"Mul", 7, binary<OpCode::mul>},
    {"Div", 7, binary<OpCode::div>},
    {"Pow", 7, pow},
    {"Mod", 1, mod},
    {"BitShift", 1, bit_shift},
    {"And", 7, binary<OpCode::logical_and>},
    {"Or", 7, binary<OpCode::logical_or>},
    {"Xor", 7, binary<OpCode::logical_xor>},
    {"BitwiseAnd", 1, binary<OpCode::logical_and>},
    {"BitwiseOr", 1, binary<OpCode::logical_or>},
    {"BitwiseXor", 1, binary<OpCode::logical_xor>},
    {"Equal", 7, binary<OpCode::equal>},
    {"Less", 7, binary<OpCode::less>},
    {"LessOrEqual", 1, binary<OpCode::less_equal>},
    {"Greater", 7, binary<OpCode::greater>},
    {"GreaterOrEqual", 1, binary<OpCode::greater_equal>},
    {"Min", 1, variadic<OpCode::minimum>},
    {"Max", 1, variadic<OpCode::maximum>},
    {"Sum", 1, variadic<OpCode::add>},
    {"Mean", 1, mean},
    {"Clip", 1, clip},
    {"Where", 1, where},
    {"Det", 1, det},
};

}  // namespace

std::span<const OperatorRow> elementwise_operators() { return rows; }

}  // namespace fuseline::onnx
