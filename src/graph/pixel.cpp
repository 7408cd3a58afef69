// Pixel operations: exact integer formulas, and samplers in f32, step by step as written.
#include <algorithm>

#include "base/fail.hpp"
#include "graph/scalar_ops.hpp"
#include "graph/structural.hpp"

namespace fuseline {
namespace {

using namespace scalar_ops;

void check_rgb(const InferContext& c) {
  const ValueType& in = c.inputs[0];
  bool ok = in.dtype == DType::u8 && !in.dims.empty() &&
            (in.dims.back() == Dim(3) || in.dims.back() == Dim(4));
  if (!ok)
    fail("{}: operand {} {}; u8 with a last axis of 3 (RGB) or 4 (RGBA) is needed", c.op,
         name_of(in.dtype), to_string(in.dims));
}

// One channel of operand 0 at a pixel, as i32.
Scalar channel(PullContext& c, std::span<const ScalarId> pixel, int number) {
  std::vector<ScalarId> index(pixel.begin(), pixel.end());
  index.push_back(c.dag.integer(DType::i64, number));
  return Scalar(c.dag, c.read(0, std::move(index))).as(DType::i32);
}

struct GrayFormula {
  std::string_view mode;
  int r, g, b, shift;
};
constexpr GrayFormula gray_formulas[] = {
    {"bt601_q15", 9798, 19235, 3735, 15},   // OpenCV's cvtColor, 8 bit
    {"bt601_q16", 19595, 38470, 7471, 16},  // libjpeg, Pillow
    {"bt709", 13933, 46871, 4732, 16},      // ITU-R BT.709-6: 0.2126, 0.7152, 0.0722
};

const GrayFormula* find_gray(std::string_view mode) {
  auto found = std::find_if(std::begin(gray_formulas), std::end(gray_formulas),
                            [&](const GrayFormula& f) { return f.mode == mode; });
  return found == std::end(gray_formulas) ? nullptr : found;
}

Scalar limit_to_byte(Scalar x) { return max(min(x, 255), 0); }

}  // namespace

ValueType infer_gray(const InferContext& c) {
  check_rgb(c);
  if (!find_gray(c.attributes.text("mode")))
    fail("gray: mode \"{}\"; use bt601_q15, bt601_q16 or bt709", c.attributes.text("mode"));
  return {DType::u8, Dims(c.inputs[0].dims.begin(), c.inputs[0].dims.end() - 1)};
}
ScalarId pull_gray(PullContext& c, std::span<const ScalarId> pixel) {
  const GrayFormula& f = *find_gray(c.node.attributes.text("mode"));
  Scalar sum = channel(c, pixel, 0) * f.r + channel(c, pixel, 1) * f.g + channel(c, pixel, 2) * f.b;
  Scalar rounded = sum + static_cast<double>(1 << (f.shift - 1));
  return (rounded >> static_cast<double>(f.shift)).as(DType::u8).id();
}

ValueType infer_rgb_to_hsv(const InferContext& c) {
  check_rgb(c);
  Dims dims = c.inputs[0].dims;
  dims.back() = 3;
  return {DType::u8, dims};
}

namespace {

// round(numerator / x), 0 for x = 0. The quotient of f32 is close enough to round as the exact
// one does: no tie exists for x < 256 and numerators below 2^20.
Scalar reciprocal_table(double numerator, Scalar x) {
  Scalar quotient = numerator / max(x, 1).as(DType::f32);
  return select(x == 0, 0, rint(quotient).as(DType::i32));
}

}  // namespace

ScalarId pull_rgb_to_hsv(PullContext& c, std::span<const ScalarId> index) {
  auto pixel = index.first(index.size() - 1);
  Scalar which(c.dag, index.back());
  Scalar r = channel(c, pixel, 0), g = channel(c, pixel, 1), b = channel(c, pixel, 2);
  Scalar v = max(max(r, g), b);
  Scalar spread = v - min(min(r, g), b);
  constexpr int fraction_bits = 12;
  constexpr double half = 1 << (fraction_bits - 1);
  Scalar s = (spread * reciprocal_table(255 << fraction_bits, v) + half) >> fraction_bits;
  Scalar sector = select(v == r, g - b, select(v == g, b - r + spread * 2, r - g + spread * 4));
  Scalar h =
      (sector * reciprocal_table((180 << fraction_bits) / 6, spread) + half) >> fraction_bits;
  h = select(h < 0, h + 180, h);
  return select(which == 0, h, select(which == 1, s, v)).as(DType::u8).id();
}

ValueType infer_nv12_to_rgb(const InferContext& c) {
  const ValueType& y = c.inputs[0];
  const ValueType& uv = c.inputs[1];
  bool ok = y.dtype == DType::u8 && uv.dtype == DType::u8 && y.dims.size() == 2 &&
            uv.dims.size() == 3 && uv.dims[2] == Dim(2);
  if (!ok) fail("nv12_to_rgb: u8 [H,W] and u8 [H/2,W/2,2] are needed");
  const std::string& matrix = c.attributes.text("matrix");
  const std::string& range = c.attributes.text("range");
  if (matrix != "bt601" && matrix != "bt709")
    fail("nv12_to_rgb: matrix \"{}\"; use bt601 or bt709", matrix);
  if (range != "limited" && range != "full")
    fail("nv12_to_rgb: range \"{}\"; use limited or full", range);
  return {DType::u8, {y.dims[0], y.dims[1], 3}};
}
ScalarId pull_nv12_to_rgb(PullContext& c, std::span<const ScalarId> index) {
  Scalar row(c.dag, index[0]), column(c.dag, index[1]), which(c.dag, index[2]);
  auto chroma = [&](int part) {
    ScalarId id = c.read(1, {(row / 2).id(), (column / 2).id(), c.dag.integer(DType::i64, part)});
    return Scalar(c.dag, id).as(DType::f32) - 128;
  };
  bool limited = c.node.attributes.text("range") == "limited";
  bool bt601 = c.node.attributes.text("matrix") == "bt601";
  double luma_red = bt601 ? 0.299 : 0.2126, luma_blue = bt601 ? 0.114 : 0.0722;
  double luma_green = 1 - luma_red - luma_blue;
  double luma_gain = limited ? 255.0 / 219 : 1, chroma_gain = limited ? 255.0 / 224 : 1;
  Scalar y = (Scalar(c.dag, c.read(0, {index[0], index[1]})).as(DType::f32) - (limited ? 16 : 0)) *
             luma_gain;
  Scalar u = chroma(0), v = chroma(1);
  Scalar red = y + v * (2 * (1 - luma_red) * chroma_gain);
  Scalar green = y - u * (2 * (1 - luma_blue) * luma_blue / luma_green * chroma_gain) -
                 v * (2 * (1 - luma_red) * luma_red / luma_green * chroma_gain);
  Scalar blue = y + u * (2 * (1 - luma_blue) * chroma_gain);
  Scalar chosen = select(which == 0, red, select(which == 1, green, blue));
  return limit_to_byte(rint(chosen)).as(DType::u8).id();
}

ValueType infer_resize(const InferContext& c) {
  ValueType result = c.inputs[0];
  const Dims& to = c.attributes.dims("dims");
  const std::string& mode = c.attributes.text("mode");
  const std::string& coordinates = c.attributes.text("coordinates");
  const std::string& nearest = c.attributes.text("nearest");
  if (result.dims.size() != 2 && result.dims.size() != 3)
    fail("resize: operand {}; [H,W] or [H,W,C] is needed", to_string(result.dims));
  if (to.size() != 2) fail("resize: dims must be the new height and width");
  if (mode != "nearest" && mode != "linear")
    fail("resize: mode \"{}\"; use nearest or linear", mode);
  if (coordinates != "half_pixel" && coordinates != "asymmetric" && coordinates != "align_corners")
    fail("resize: coordinates \"{}\"; use half_pixel, asymmetric or align_corners", coordinates);
  if (nearest != "floor" && nearest != "round_prefer_floor")
    fail("resize: nearest \"{}\"; use floor or round_prefer_floor", nearest);
  if (is_bool(result.dtype)) fail("resize: operand of type bool; cast it");
  result.dims[0] = to[0];
  result.dims[1] = to[1];
  return result;
}

namespace {

// Position on the source axis, f32, of the centre of a target element.
Scalar source_position(PullContext& c, ScalarId target, const Dim& from, const Dim& to) {
  Scalar x = Scalar(c.dag, target).as(DType::f32);
  Scalar n = Scalar(c.dag, c.dag.dim(from)).as(DType::f32);
  Scalar m = Scalar(c.dag, c.dag.dim(to)).as(DType::f32);
  const std::string& coordinates = c.node.attributes.text("coordinates");
  if (coordinates == "asymmetric") return x * (n / m);
  if (coordinates == "align_corners") return x * ((n - 1) / max(m - 1, 1));
  return (x + 0.5) * (n / m) - 0.5;
}

struct Tap {
  Scalar index;   // i64, inside the axis
  Scalar weight;  // f32
};

std::vector<Tap> taps(PullContext& c, ScalarId target, const Dim& from, const Dim& to) {
  Scalar last = Scalar(c.dag, c.dag.dim(from)) - 1;
  auto inside = [&](Scalar position) { return max(min(position.as(DType::i64), last), 0); };
  Scalar p = source_position(c, target, from, to);
  if (c.node.attributes.text("mode") == "nearest") {
    bool down = c.node.attributes.text("nearest") == "floor";
    return {{inside(down ? floor(p) : ceil(p - 0.5)), p.like(1)}};
  }
  Scalar low = floor(p), part = p - low;
  return {{inside(low), 1 - part}, {inside(low + 1), part}};
}

}  // namespace

ScalarId pull_resize(PullContext& c, std::span<const ScalarId> index) {
  const Dims& from = c.operand(0).dims;
  const Dims& to = c.result().dims;
  DType dtype = c.result().dtype;
  auto rows = taps(c, index[0], from[0], to[0]);
  auto columns = taps(c, index[1], from[1], to[1]);
  auto element = [&](const Tap& row, const Tap& column) {
    std::vector<ScalarId> own = {row.index.id(), column.index.id()};
    own.insert(own.end(), index.begin() + 2, index.end());
    return Scalar(c.dag, c.read(0, std::move(own)));
  };
  if (rows.size() == 1) return element(rows[0], columns[0]).id();
  DType work = dtype == DType::f64 ? DType::f64 : DType::f32;
  auto blend = [&](Scalar a, Scalar b, const std::vector<Tap>& weights) {
    return a * weights[0].weight.as(work) + b * weights[1].weight.as(work);
  };
  auto row_value = [&](const Tap& row) {
    return blend(element(row, columns[0]).as(work), element(row, columns[1]).as(work), columns);
  };
  Scalar value = blend(row_value(rows[0]), row_value(rows[1]), rows);
  return (is_float(dtype) ? value : rint(value)).as(dtype).id();
}

}  // namespace fuseline
