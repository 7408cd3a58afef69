// Matrix products and convolutions, of quantised numbers too.
#include <algorithm>
#include <map>

#include "base/fail.hpp"
#include "onnx/index_tools.hpp"
#include "onnx/linear_tools.hpp"
#include "onnx/operators.hpp"
#include "onnx/spatial.hpp"

namespace fuseline::onnx {

// A list is a row on the left and a column on the right.
Value matrix_product(const Value& a, const Value& b) {
  bool row = a.dims().size() == 1, column = b.dims().size() == 1;
  if (a.dims().empty() || b.dims().empty()) fail("a scalar has no matrix product");
  Value product = matmul(row ? unsqueeze(a, {0}) : a, column ? unsqueeze(b, {1}) : b);
  std::vector<std::int64_t> gone;
  if (row) gone.push_back(-2);
  if (column) gone.push_back(-1);
  return gone.empty() ? product : squeeze(product, gone);
}

Value add_bias(const Value& x, const Value& bias) {
  Dims line(x.dims().size(), Dim(1));
  line[1] = bias.dims().at(0);
  return x + reshape(bias, line);
}

namespace {

void mat_mul(Context& c) { c.out(matrix_product(c.in(0), c.in(1))); }

void gemm(Context& c) {
  Value a = c.in(0), b = c.in(1);
  if (a.dims().size() != 2 || b.dims().size() != 2)
    fail("matrices are needed, not {} and {}", to_string(a.dims()), to_string(b.dims()));
  if (c.integer("transA", 0)) a = transpose(a, {1, 0});
  if (c.integer("transB", 0)) b = transpose(b, {1, 0});
  double alpha = c.real("alpha", 1), beta = c.real("beta", 1);
  Value y = matmul(a, b);
  if (alpha != 1) y = y * alpha;
  if (c.has(2) && beta != 0) y = y + (beta == 1 ? c.in(2) : c.in(2) * beta);
  c.out(y);
}

// ---- Einsum

// Axes under "..." are named by digits, the last one is '0'.
std::string spelled(std::string_view text, std::size_t rank) {
  std::string letters;
  std::size_t dots = text.find("...");
  std::size_t named = text.size() - (dots == text.npos ? 0 : 3);
  if (named > rank || (dots == text.npos && named != rank))
    fail("the term \"{}\" for an operand with {} axes", text, rank);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i != dots) {
      letters += text[i];
      continue;
    }
    std::size_t open = rank - named;
    if (open > 9) fail("\"...\" stands for {} axes", open);
    for (std::size_t k = open; k-- > 0;) letters += static_cast<char>('0' + k);
    i += 2;
  }
  return letters;
}

struct Equation {
  std::vector<std::string> terms;
  std::string result;
};

Equation parse_equation(Context& c) {
  std::string text = c.text("equation", "");
  std::erase(text, ' ');
  std::size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  Equation e;
  std::size_t at = 0;
  for (std::size_t i = 0; i < c.count(); ++i) {
    std::size_t comma = std::min(left.find(',', at), left.size());
    if (at > left.size()) fail("\"{}\" has fewer terms than there are operands", text);
    e.terms.push_back(spelled(left.substr(at, comma - at), c.rank(i)));
    at = comma + 1;
  }
  if (at <= left.size()) fail("\"{}\" has more terms than there are operands", text);
  std::map<char, int> seen;
  std::string open;
  for (const std::string& term : e.terms)
    for (char letter : term) ++seen[letter];
  for (char digit = '9'; digit >= '0'; --digit)
    if (seen.contains(digit)) open += digit;
  if (arrow != text.npos) {
    std::string right = text.substr(arrow + 2);
    std::size_t dots = right.find("...");
    if (dots != right.npos) right.replace(dots, 3, open);
    e.result = right;
  } else {  // the letters that stand once, in order
    e.result = open;
    for (auto [letter, count] : seen)
      if (count == 1 && !std::isdigit(letter)) e.result += letter;
  }
  return e;
}

// The diagonal of axes with the same letter.
Value without_repeats(Value x, std::string& letters) {
  for (std::size_t i = 0; i < letters.size(); ++i) {
    std::size_t j = letters.find(letters[i], i + 1);
    if (j == letters.npos) continue;
    const Dims dims = x.dims();
    Dims rest = dims;
    rest.erase(rest.begin() + static_cast<long>(j));
    Value linear = x.graph().constant(DType::i64, std::int64_t{0});
    for (std::size_t k = 0; k < dims.size(); ++k) {
      std::size_t from = k == j ? i : k > j ? k - 1 : k;
      linear = linear * size_value(x.graph(), dims[k]) +
               iota(x.graph(), rest, static_cast<int>(from), DType::i64);
    }
    x = take(x, linear);
    letters.erase(j, 1);
    --i;
  }
  return x;
}

// All products are formed in one space: the result's axes, then those that are summed over.
void einsum(Context& c) {
  Equation e = parse_equation(c);
  std::string all = e.result;
  std::vector<Value> operands;
  for (std::size_t i = 0; i < c.count(); ++i) {
    operands.push_back(without_repeats(c.in(i), e.terms[i]));
    for (char letter : e.terms[i])
      if (all.find(letter) == all.npos) all += letter;
  }
  std::optional<Value> product;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    std::vector<std::int64_t> perm;
    Dims spread;
    for (char letter : all) {
      std::size_t axis = e.terms[i].find(letter);
      spread.push_back(axis == std::string::npos ? Dim(1) : operands[i].dims()[axis]);
      if (axis != std::string::npos) perm.push_back(static_cast<std::int64_t>(axis));
    }
    Value aligned = reshape(transpose(operands[i], perm), spread);
    product = product ? *product * aligned : aligned;
  }
  std::vector<std::int64_t> summed;
  for (std::size_t k = e.result.size(); k < all.size(); ++k)
    summed.push_back(static_cast<std::int64_t>(k));
  c.out(summed.empty() ? *product : reduce_sum(*product, summed));
}

// ---- convolutions

Value convolve(Context& c, const Value& x, const Value& w) {
  return conv(x, w, spatial_of(c, x.dims(), kernel_of(w.dims())).places(), c.integer("group", 1));
}

void conv_op(Context& c) {
  Value y = convolve(c, c.in(0), c.in(1));
  c.out(c.has(2) ? add_bias(y, c.in(2)) : y);
}

void conv_transpose_op(Context& c) {
  Value x = c.in(0), w = c.in(1);
  Spatial s = transposed_spatial(c, x.dims(), kernel_of(w.dims()));
  Value y = conv_transpose(x, w, s.places(), c.integer("group", 1));
  c.out(c.has(2) ? add_bias(y, c.in(2)) : y);
}

// Columns are spread back to where im2col took them: a transposed convolution with one weight a
// place of the kernel.
void col2im(Context& c) {
  Value x = c.in(0);
  std::vector<std::int64_t> image = c.integers(1), block = c.integers(2);
  std::size_t axes = image.size();
  auto list = [&](const char* name, std::size_t count, std::int64_t otherwise) {
    std::vector<std::int64_t> given = c.integer_list(name);
    return given.empty() ? std::vector<std::int64_t>(count, otherwise) : given;
  };
  std::vector<std::int64_t> strides = list("strides", axes, 1), pads = list("pads", 2 * axes, 0);
  std::vector<std::int64_t> dilations = list("dilations", axes, 1);
  if (block.size() != axes || strides.size() != axes || pads.size() != 2 * axes)
    fail("image_shape, block_shape, strides and pads do not fit each other");
  std::int64_t places = 1;
  Dims split = {x.dims().at(0), x.dims().at(1)}, kernel_dims;
  Dims before, sizes(image.begin(), image.end());
  for (std::size_t k = 0; k < axes; ++k) {
    places *= block[k];
    std::int64_t reach = (block[k] - 1) * dilations[k] + 1;
    split.emplace_back((image[k] + pads[k] + pads[axes + k] - reach) / strides[k] + 1);
    before.emplace_back(pads[k]);
    kernel_dims.emplace_back(block[k]);
  }
  Dim channels = floor_div(x.dims()[1], Dim(places));
  if (!channels.is_constant()) fail("the number of channels must be known");
  Value which = iota(c.graph, {x.dims()[1], Dim(places)}, 0, DType::i64) % places;
  Value own = iota(c.graph, {x.dims()[1], Dim(places)}, 1, DType::i64);
  Dims weights = {x.dims()[1], Dim(1)};
  weights.insert(weights.end(), kernel_dims.begin(), kernel_dims.end());
  Value w = reshape(cast(which == own, x.dtype()), weights);
  c.out(conv_transpose(reshape(x, split), w, {strides, dilations, before, sizes},
                       channels.constant()));
}

// ---- quantised

Value minus_zero(Context& c, std::size_t x, std::size_t zero, bool rows) {
  Value wide = cast(c.in(x), DType::i32);
  if (!c.has(zero)) return wide;
  Value z = cast(c.in(zero), DType::i32);
  if (rows && z.dims().size() == 1 && z.dims()[0] != Dim(1)) z = unsqueeze(z, {1});
  return wide - z;
}

void mat_mul_integer(Context& c) {
  c.out(matrix_product(minus_zero(c, 0, 2, true), minus_zero(c, 1, 3, false)));
}

void conv_integer(Context& c) {
  Value w = cast(c.in(1), DType::i32);
  if (c.has(3)) {
    Value zero = cast(c.in(3), DType::i32);
    Dims line(w.dims().size(), Dim(1));
    if (zero.dims().size() == 1) line[0] = zero.dims()[0];
    w = w - reshape(zero, line);
  }
  Value x = cast(c.in(0), DType::i32);
  if (c.has(2)) x = x - reshape(cast(c.in(2), DType::i32), {});
  c.out(convolve(c, x, w));
}

Value requantized(const Value& sum, const Value& scale, const Value& zero) {
  Value scaled = fuseline::round(cast(sum, DType::f32) * scale);
  return saturate_cast(scaled + cast(zero, DType::f32), zero.dtype());
}

// Operands: a, its scale and zero point, b, ..., y.
void qlinear_mat_mul(Context& c) {
  Value a_scale = cast(c.in(1), DType::f32), b_scale = cast(c.in(4), DType::f32);
  if (a_scale.dims().size() == 1 && a_scale.dims()[0] != Dim(1)) a_scale = unsqueeze(a_scale, {1});
  Value sum = matrix_product(minus_zero(c, 0, 2, true), minus_zero(c, 3, 5, false));
  Value scale = a_scale * b_scale / cast(c.in(6), DType::f32);
  c.out(requantized(sum, scale, c.in(7)));
}

void qlinear_conv(Context& c) {
  Value w = cast(c.in(3), DType::i32), zero = cast(c.in(5), DType::i32);
  Dims weight_line(w.dims().size(), Dim(1)), result_line = weight_line;
  Value w_scale = cast(c.in(4), DType::f32);
  if (!zero.dims().empty()) weight_line[0] = zero.dims()[0];
  if (!w_scale.dims().empty()) result_line[1] = w_scale.dims()[0];
  Value x = cast(c.in(0), DType::i32) - reshape(cast(c.in(2), DType::i32), {});
  Value sum = convolve(c, x, w - reshape(zero, weight_line));
  if (c.has(8)) sum = add_bias(sum, c.in(8));
  Value x_scale = reshape(cast(c.in(1), DType::f32), {});
  Value scale = x_scale * reshape(w_scale, result_line) / reshape(cast(c.in(6), DType::f32), {});
  c.out(requantized(sum, scale, reshape(c.in(7), {})));
}

constexpr OperatorRow rows[] = {
    {"MatMul", 1, mat_mul},
    {"Gemm", 7, gemm},
    {"Einsum", 12, einsum},
    {"Conv", 1, conv_op},
    {"ConvTranspose", 1, conv_transpose_op},
    {"Col2Im", 18, col2im},
    {"MatMulInteger", 10, mat_mul_integer},
    {"ConvInteger", 10, conv_integer},
    {"QLinearMatMul", 10, qlinear_mat_mul},
    {"QLinearConv", 10, qlinear_conv},
};

}  // namespace

std::span<const OperatorRow> linear_operators() { return rows; }

}  // namespace fuseline::onnx
