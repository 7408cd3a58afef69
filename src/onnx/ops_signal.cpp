// Window functions and Fourier transforms.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/fail.hpp"
#include "onnx/index_tools.hpp"
#include "onnx/operators.hpp"

namespace fuseline::onnx {
namespace {

constexpr double turn = 2 * std::numbers::pi;

// a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N)
void cosine_window(Context& c, double a0, double a1, double a2) {
  Dim size = c.dims(0).at(0);
  bool periodic = c.integer("periodic", 1) != 0;
  int type = static_cast<int>(c.integer("output_datatype", float32));
  Value n = iota(c.graph, {size}, 0, DType::f64);
  Value phase = n * turn / cast(size_value(c.graph, periodic ? size : size - 1), DType::f64);
  c.out(cast(a0 - a1 * cos(phase) + a2 * cos(phase * 2), held_as(type)));
}

void hann_window(Context& c) { cosine_window(c, 0.5, 0.5, 0); }
void hamming_window(Context& c) { cosine_window(c, 25.0 / 46, 21.0 / 46, 0); }
void blackman_window(Context& c) { cosine_window(c, 0.42, 0.5, 0.08); }

struct Complex {
  Value real, imaginary;
};

// Angles of the transform over `length` elements, modulo a turn: f64 [results, length].
Value angles(Graph& graph, const Dim& results, const Dim& length) {
  Value k = iota(graph, {results, length}, 0, DType::i64);
  Value n = iota(graph, {results, length}, 1, DType::i64);
  Value total = size_value(graph, length);
  return cast(k * n % total, DType::f64) * turn / cast(total, DType::f64);
}

// Transform of the last axis: sums of products with the tables.
Complex transform(const Complex& x, const Dim& results, bool inverse) {
  const Dim length = x.real.dims().back();
  Value angle = transpose(angles(x.real.graph(), results, length), {1, 0});
  Value c = cast(cos(angle), x.real.dtype()), s = cast(sin(angle), x.real.dtype());
  if (!inverse) s = -s;
  Value real = matmul(x.real, c) - matmul(x.imaginary, s);
  Value imaginary = matmul(x.imaginary, c) + matmul(x.real, s);
  if (!inverse) return {real, imaginary};
  Value n = cast(size_value(x.real.graph(), length), real.dtype());
  return {real / n, imaginary / n};
}

// Cut, or filled with zeros, to a length along the last axis.
Value fitted(const Value& x, const Dim& length) {
  const Dim own = x.dims().back();
  if (own == length) return x;
  if (!own.is_constant() || !length.is_constant())
    fail("the length of the transform must be known");
  std::size_t last = x.dims().size() - 1;
  if (length.constant() < own.constant()) return part(x, last, 0, length);
  Dims before(x.dims().size(), Dim(0)), after = before;
  after[last] = length - own;
  return pad(x, before, after);
}

Complex parts_of(const Value& x) {
  Value real = pick(x, -1, 0);
  bool complex = x.dims().back() == Dim(2);
  return {real, complex ? pick(x, -1, 1) : real * 0.0};
}

Value joined(const Complex& x) {
  return concat({unsqueeze(x.real, {-1}), unsqueeze(x.imaginary, {-1})},
                static_cast<int>(x.real.dims().size()));
}

std::vector<std::int64_t> swap_last(std::size_t axis, std::size_t rank) {
  std::vector<std::int64_t> perm;
  for (std::size_t k = 0; k < rank; ++k) perm.push_back(static_cast<std::int64_t>(k));
  std::swap(perm[axis], perm[rank - 1]);
  return perm;
}

void dft(Context& c) {
  Value x = c.in(0);
  std::size_t rank = x.dims().size() - 1;  // without the parts of complex numbers
  bool as_operand = c.opset >= 20;
  std::int64_t given = as_operand ? (c.has(2) ? c.integers(2).at(0) : -2) : c.integer("axis", 1);
  std::size_t axis = absolute_axis(given, rank + 1);
  if (axis >= rank) fail("axis {} holds the parts of complex numbers", given);
  bool inverse = c.integer("inverse", 0) != 0, onesided = c.integer("onesided", 0) != 0;
  Dim own = x.dims()[axis];
  Dim length = c.has(1) ? c.dims(1).at(0) : inverse && onesided ? (own - 1) * 2 : own;
  Complex parts = parts_of(x);
  std::vector<std::int64_t> perm = swap_last(axis, rank);
  auto prepared = [&](const Value& v, const Dim& to) { return fitted(transpose(v, perm), to); };
  if (inverse && onesided) {
    // The other half is the mirrored conjugate.
    Dim half = floor_div(length, Dim(2)) + 1;
    Value real = prepared(parts.real, half), imaginary = prepared(parts.imaginary, half);
    Dim rest = length - half;
    Dims starts(rank, Dim(0)), sizes = replaced(real.dims(), rank - 1, rest);
    starts.back() = rest;
    std::vector<std::int64_t> steps(rank, 1);
    steps.back() = -1;
    auto last = static_cast<int>(rank - 1);
    parts = {concat({real, slice(real, starts, sizes, steps)}, last),
             concat({imaginary, -slice(imaginary, starts, sizes, steps)}, last)};
    Complex y = transform(parts, length, true);
    return c.out(unsqueeze(transpose(y.real, perm), {-1}));
  }
  Dim results = onesided ? floor_div(length, Dim(2)) + 1 : length;
  Complex y = transform({prepared(parts.real, length), prepared(parts.imaginary, length)}, results,
                        inverse);
  c.out(joined({transpose(y.real, perm), transpose(y.imaginary, perm)}));
}

// Frames of the signal, weighted and transformed.
void stft(Context& c) {
  Value signal = c.in(0);
  std::vector<std::int64_t> step = c.integers(1);
  if (step.size() != 1 || step[0] < 1) fail("the step between frames must be 1 or more");
  Dim length = c.has(3) ? c.dims(3).at(0) : c.has(2) ? c.in(2).dims().at(0) : Dim(0);
  if (!length.is_constant() || length.constant() < 1) fail("the length of a frame must be known");
  if (signal.dims().size() == 2) signal = unsqueeze(signal, {2});
  Complex parts = parts_of(signal);  // [B, L]
  Dim count = floor_div(signal.dims().at(1) - length, Dim(step[0])) + 1;
  auto frames = [&](const Value& v) {
    Value all = window(v, {length.constant()}, {step, {1}, {Dim(0)}, {count}});
    return c.has(2) ? all * cast(c.in(2), all.dtype()) : all;
  };
  bool onesided = c.integer("onesided", 1) != 0;
  Dim results = onesided ? floor_div(length, Dim(2)) + 1 : length;
  c.out(joined(transform({frames(parts.real), frames(parts.imaginary)}, results, false)));
}

// Triangles over the bins of a spectrum, evenly spaced on the mel scale.
void mel_weight_matrix(Context& c) {
  auto whole = [&](std::size_t i) { return c.integers(i).at(0); };
  auto mel = [&](std::size_t i) {
    return 2595 * std::log10(1 + c.known.numbers(c.in(i)).at(0) / 700);
  };
  std::int64_t bands = whole(0), length = whole(1), rate = whole(2), bins = length / 2 + 1;
  if (bands < 0 || length < 0 || rate < 1)
    fail("{} bands, length {}, rate {}", bands, length, rate);
  double low = mel(3), step = (mel(4) - low) / static_cast<double>(bands + 2);
  auto bin = [&](std::int64_t i) {
    double hertz = 700 * (std::pow(10.0, (low + static_cast<double>(i) * step) / 2595) - 1);
    double at = std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(at), 0, bins - 1);
  };
  Tensor weights = Tensor::allocate(DType::f64, {bins, bands});
  std::fill_n(weights.as<double>(), weights.size(), 0.0);
  for (std::int64_t i = 0; i < bands; ++i) {
    std::int64_t left = bin(i), center = bin(i + 1), right = bin(i + 2);
    for (std::int64_t j = left; j < right || j == center; ++j) {
      std::int64_t above = j - left, below = right - j;
      double weight = j < center ? static_cast<double>(above) / static_cast<double>(center - left)
                      : j == center
                          ? 1.0
                          : static_cast<double>(below) / static_cast<double>(right - center);
      weights.as<double>()[j * bands + i] = weight;
    }
  }
  int type = static_cast<int>(c.integer("output_datatype", float32));
  c.out(cast(c.graph.constant(weights), held_as(type)));
}

constexpr OperatorRow rows[] = {
    {"MelWeightMatrix", 17, mel_weight_matrix},
    {"HannWindow", 17, hann_window},
    {"HammingWindow", 17, hamming_window},
    {"BlackmanWindow", 17, blackman_window},
    {"DFT", 17, dft},
    {"STFT", 17, stft},
};

}  // namespace

std::span<const OperatorRow> signal_operators() { return rows; }

}  // namespace fuseline::onnx
