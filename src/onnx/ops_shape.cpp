// Shapes: Reshape and its kin, Concat, Split, Slice, Expand, Tile, and tensors made of sizes alone.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fail.hpp"
#include "onnx/index_tools.hpp"
#include "onnx/operators.hpp"

namespace fuseline::onnx {
namespace {

void identity(Context& c) { c.out_like(c.in(0)); }

void shape_of(Context& c) {
  const Dims dims = c.in(0).dims();
  auto rank = static_cast<std::int64_t>(dims.size());
  auto place = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  std::int64_t start = place(c.integer("start", 0)), end = place(c.integer("end", rank));
  Dims part;
  for (std::int64_t k = start; k < end; ++k) part.push_back(dims[static_cast<std::size_t>(k)]);
  c.out(dims_value(c.graph, part));
}

void size_of_all(Context& c) { c.out(reshape(dims_value(c.graph, {product(c.in(0).dims())}), {})); }

// What is left of `all` after division by `given`; equal sizes cancel.
Dim remaining(Dims all, Dims given) {
  for (auto it = given.begin(); it != given.end();) {
    auto same = std::find(all.begin(), all.end(), *it);
    if (same == all.end()) {
      ++it;
      continue;
    }
    all.erase(same);
    it = given.erase(it);
  }
  Dim below = product(given);
  if (below == Dim(0)) fail("a size of -1 beside a size of 0 says nothing");
  return floor_div(product(all), below);
}

bool is_open(const Dim& dim) { return dim.has(Dim::Kind::operand); }
bool any_open(const Dims& dims) { return std::any_of(dims.begin(), dims.end(), is_open); }

// The shape where entries are known only when it runs: each may be -1, 0 or a size. max() keeps
// every entry one factor, so that the product of all stays short.
Dims open_shape(const Dims& from, const Dims& wanted, bool zero_is_zero) {
  Dims own(wanted.size()), factors;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    bool copies = !zero_is_zero && k < from.size();
    own[k] = copies ? equal(wanted[k], 0) * from[k] : Dim(0);
    factors.push_back(max(wanted[k], own[k] + equal(wanted[k], -1)));
  }
  Dim rest = floor_div(product(from), max(product(factors), 1));
  Dims shape;
  for (std::size_t k = 0; k < wanted.size(); ++k)
    shape.push_back(max(wanted[k], own[k] + equal(wanted[k], -1) * rest));
  return shape;
}

void reshape_op(Context& c) {
  const Dims from = c.in(0).dims();
  Dims wanted = c.opset >= 5 && c.count() > 1 ? c.open_dims(1) : Dims{};
  if (any_open(wanted))
    return c.out_like(reshape(c.in(0), open_shape(from, wanted, c.integer("allowzero", 0) != 0)));
  if (c.count() < 2)
    for (std::int64_t size : c.integer_list("shape")) wanted.emplace_back(size);
  bool zero_is_zero = c.integer("allowzero", 0) != 0;
  std::optional<std::size_t> open;
  Dims known;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (wanted[k] == Dim(0) && !zero_is_zero) {
      if (k >= from.size()) fail("size 0 at place {} of an operand with {} axes", k, from.size());
      wanted[k] = from[k];
    }
    if (wanted[k] == Dim(-1)) {
      if (open) fail("more than one size of -1 in {}", to_string(wanted));
      open = k;
    } else {
      known.push_back(wanted[k]);
    }
  }
  if (open) wanted[*open] = remaining(from, known);
  c.out_like(reshape(c.in(0), wanted));
}

void flatten(Context& c) {
  const Dims dims = c.in(0).dims();
  std::int64_t axis = c.integer("axis", 1);
  auto rank = static_cast<std::int64_t>(dims.size());
  if (axis < -rank || axis > rank) fail("axis {} of a tensor with {} axes", axis, rank);
  auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  c.out_like(reshape(c.in(0), {product(dims, 0, at), product(dims, at, dims.size())}));
}

std::vector<std::int64_t> axes_of(Context& c) {
  if (c.opset >= 13) return c.has(1) ? c.integers(1) : std::vector<std::int64_t>{};
  return c.integer_list("axes");
}

void squeeze_op(Context& c) {
  std::vector<std::int64_t> axes = axes_of(c);
  const Dims dims = c.in(0).dims();
  bool all = c.opset >= 13 ? !c.has(1) : !c.has_attribute("axes");
  for (std::size_t k = 0; all && k < dims.size(); ++k)
    if (dims[k] == Dim(1)) axes.push_back(static_cast<std::int64_t>(k));
  for (std::int64_t axis : axes) {
    const Dim& size = dims[absolute_axis(axis, dims.size())];
    if (size.is_constant() && size != Dim(1)) fail("axis {} has size {}", axis, size.to_string());
  }
  c.out_like(squeeze(c.in(0), axes));
}

void unsqueeze_op(Context& c) { c.out_like(unsqueeze(c.in(0), axes_of(c))); }

void transpose_op(Context& c) {
  std::vector<std::int64_t> perm = c.integer_list("perm");
  if (!c.has_attribute("perm"))
    for (std::size_t k = c.rank(0); k-- > 0;) perm.push_back(static_cast<std::int64_t>(k));
  c.out_like(transpose(c.in(0), perm));
}

void expand(Context& c) { c.out_like(broadcast_both(c.in(0), c.open_dims(1))); }

// Each axis becomes [repeats, size].
void tile(Context& c) {
  Value x = c.in(0);
  const Dims from = x.dims(), repeats = c.open_dims(1);
  if (repeats.size() != from.size()) fail("{} repeats for {} axes", repeats.size(), from.size());
  Dims split, wide, to;
  for (std::size_t k = 0; k < from.size(); ++k) {
    split.insert(split.end(), {Dim(1), from[k]});
    wide.insert(wide.end(), {repeats[k], from[k]});
    to.push_back(repeats[k] * from[k]);
  }
  c.out_like(reshape(broadcast_to(reshape(x, split), wide), to));
}

void concat_op(Context& c) {
  std::vector<Value> parts;
  for (std::size_t i = 0; i < c.count(); ++i) parts.push_back(c.in(i));
  c.out_like(concat_many(parts, c.opset >= 4 ? c.integer("axis") : c.integer("axis", 1)));
}

void split_op(Context& c) {
  Value x = c.in(0);
  std::size_t axis = absolute_axis(c.integer("axis", 0), x.dims().size());
  const Dim whole = x.dims()[axis];
  Dims sizes;
  if (c.opset >= 13 && c.has(1)) sizes = c.open_dims(1);
  for (std::int64_t size : c.integer_list("split")) sizes.emplace_back(size);
  if (sizes.empty()) {
    auto parts = static_cast<std::int64_t>(c.node.outputs.size());
    parts = c.integer("num_outputs", parts);
    if (parts < 1) fail("{} outputs", parts);
    Dim each = ceil_div(whole, Dim(parts));
    sizes.assign(static_cast<std::size_t>(parts), each);
    sizes.back() = whole - each * Dim(parts - 1);
  }
  if (sizes.size() < c.node.outputs.size())
    fail("{} sizes for {} outputs", sizes.size(), c.node.outputs.size());
  std::vector<Value> parts = split(x, static_cast<int>(axis), sizes);
  for (std::size_t i = 0; i < c.node.outputs.size(); ++i) c.out(i, parts[i], c.type(0));
}

// ---- Slice

struct Cut {
  Dim start, size;
  std::int64_t step;
};

// A start or end inside [low, high]; sizes that are symbols are taken as not negative.
Dim place_in(const Dim& given, const Dim& extent, const Dim& low, const Dim& high) {
  if (given.is_constant() && extent.is_constant()) {
    std::int64_t at = given.constant();
    if (at < 0) at += extent.constant();
    return std::clamp(at, low.constant(), std::max(low.constant(), high.constant()));
  }
  if (is_open(given)) {
    Dim at = given + less(given, 0) * extent;
    return max(low, min(at, max(low, high)));
  }
  constexpr std::int64_t far = std::int64_t{1} << 30;
  if (given.is_constant()) {
    if (given.constant() >= far) return high;
    if (given.constant() <= -far) return low;
    if (given.constant() < 0) return extent + given;
    if (given.constant() == 0) return low;
  }
  return given == extent ? high : min(given, high);
}

Cut cut_of(const Dim& start, const Dim& end, std::int64_t step, const Dim& extent) {
  if (step == 0) fail("a step of 0");
  bool up = step > 0;
  Dim low = up ? Dim(0) : Dim(-1), high = up ? extent : extent - 1;
  Dim first = place_in(start, extent, up ? low : Dim(0), high);
  Dim last = place_in(end, extent, low, high);
  Dim distance = up ? last - first : first - last;
  if (distance.is_constant() && distance.constant() <= 0) return {0, 0, step};
  if (is_open(distance)) distance = max(distance, 0);
  return {first, step == 1 || step == -1 ? distance : ceil_div(distance, Dim(std::abs(step))),
          step};
}

void slice_with(Context& c, const Dims& starts, const Dims& ends,
                const std::vector<std::int64_t>& axes, const std::vector<std::int64_t>& steps) {
  Value x = c.in(0);
  Dims from(x.dims().size(), Dim(0)), sizes = x.dims();
  std::vector<std::int64_t> by(x.dims().size(), 1);
  if (starts.size() != ends.size() || starts.size() != axes.size() || starts.size() != steps.size())
    fail("{} starts, {} ends, {} axes and {} steps", starts.size(), ends.size(), axes.size(),
         steps.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::size_t axis = absolute_axis(axes[i], x.dims().size());
    Cut cut = cut_of(starts[i], ends[i], steps[i], x.dims()[axis]);
    from[axis] = cut.start;
    sizes[axis] = cut.size;
    by[axis] = cut.step;
  }
  c.out_like(slice(x, from, sizes, by));
}

std::vector<std::int64_t> first_axes(std::size_t count) {
  std::vector<std::int64_t> axes;
  for (std::size_t k = 0; k < count; ++k) axes.push_back(static_cast<std::int64_t>(k));
  return axes;
}

void slice_op(Context& c) {
  Dims starts = c.open_dims(1), ends = c.open_dims(2);
  std::vector<std::int64_t> axes = c.has(3) ? c.integers(3) : first_axes(starts.size());
  std::vector<std::int64_t> steps =
      c.has(4) ? c.integers(4) : std::vector<std::int64_t>(starts.size(), 1);
  slice_with(c, starts, ends, axes, steps);
}

void slice_1(Context& c) {
  std::vector<std::int64_t> starts = c.integer_list("starts"), ends = c.integer_list("ends");
  std::vector<std::int64_t> axes =
      c.has_attribute("axes") ? c.integer_list("axes") : first_axes(starts.size());
  slice_with(c, {starts.begin(), starts.end()}, {ends.begin(), ends.end()}, axes,
             std::vector<std::int64_t>(starts.size(), 1));
}

// ---- Pad

void pad_with(Context& c, const Dims& pads, const std::vector<std::int64_t>& axes, Value value) {
  Value x = c.in(0);
  std::string mode = c.choice("mode", "constant", {"constant", "edge", "reflect", "wrap"});
  Dims before(x.dims().size(), Dim(0)), after = before;
  if (pads.size() != 2 * axes.size()) fail("{} pads for {} axes", pads.size(), axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::size_t axis = absolute_axis(axes[i], x.dims().size());
    before[axis] = pads[i];
    after[axis] = pads[i + axes.size()];
  }
  c.out_like(c.graph.apply(OpCode::pad, {x, value},
                           {{"before", before}, {"after", after}, {"mode", mode}}));
}

void pad_op(Context& c) {
  std::vector<std::int64_t> axes = c.has(3) ? c.integers(3) : first_axes(c.rank(0));
  Value x = c.in(0);
  Value value = c.has(2) ? reshape(c.in(2), {}) : c.graph.constant(x.dtype(), std::int64_t{0});
  pad_with(c, c.open_dims(1), axes, value);
}

void pad_2(Context& c) {
  std::vector<std::int64_t> pads = c.integer_list("pads");
  pad_with(c, {pads.begin(), pads.end()}, first_axes(c.rank(0)),
           number(c.in(0), c.real("value", 0)));
}

// Cut or padded with zeros to a shape, the centre kept.
void center_crop_pad(Context& c) {
  Value x = c.in(0);
  Dims wanted = c.dims(1);
  std::vector<std::int64_t> axes =
      c.has_attribute("axes") ? c.integer_list("axes") : first_axes(wanted.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::size_t axis = absolute_axis(axes[i], x.dims().size());
    const Dim from = x.dims()[axis], to = wanted[i];
    if (!from.is_constant() || !to.is_constant()) fail("constant sizes are needed");
    std::int64_t less = from.constant() - to.constant();
    if (less >= 0) {
      x = part(x, axis, less / 2, to);
      continue;
    }
    Dims before(x.dims().size(), Dim(0)), after = before;
    before[axis] = -less / 2;
    after[axis] = -less - -less / 2;
    x = pad(x, before, after);
  }
  c.out_like(x);
}

// ---- tensors of sizes

void constant_of_shape(Context& c) {
  Tensor value = Tensor::allocate(DType::f32, {});
  *value.as<float>() = 0;
  if (c.has_attribute("value")) value = c.tensor_attribute("value");
  if (value.size() != 1) fail("attribute value has {} elements", value.size());
  Value scalar = c.graph.apply(OpCode::constant, {}, {{"value", value.view(0, {}, {})}});
  int type = c.has_attribute("value") ? c.find("value")->t->data_type : float32;
  c.out(0, broadcast_to(scalar, c.open_dims(0)), type);
}

Dim range_count(Context& c, DType dtype) {
  if (is_float(dtype)) {
    double start = c.known.numbers(c.in(0)).at(0), limit = c.known.numbers(c.in(1)).at(0);
    double delta = c.known.numbers(c.in(2)).at(0);
    double count = std::ceil((limit - start) / delta);
    if (!(count < 0x1p40)) fail("{} elements from {} to {} by {}", count, start, limit, delta);
    return static_cast<std::int64_t>(std::max(count, 0.0));
  }
  Dim start = c.open_dims(0).at(0), limit = c.open_dims(1).at(0), delta = c.open_dims(2).at(0);
  if (delta == Dim(0)) fail("a step of 0");
  Dim count = ceil_div(limit - start, delta);
  return count.is_constant() || is_open(count) ? max(count, 0) : count;
}

void range(Context& c) {
  Value start = reshape(c.in(0), {}), delta = reshape(c.in(2), {});
  DType wide = wide_type(start.dtype());
  Value index = iota(c.graph, {range_count(c, start.dtype())}, 0, wide);
  c.out(cast(cast(start, wide) + index * cast(delta, wide), start.dtype()));
}

void eye_like(Context& c) {
  const Dims dims = c.in(0).dims();
  if (dims.size() != 2) fail("a matrix is needed, not {}", to_string(dims));
  int type = static_cast<int>(c.integer("dtype", c.type(0)));
  Value row = iota(c.graph, dims, 0, DType::i64), column = iota(c.graph, dims, 1, DType::i64);
  Value diagonal = column - row == c.integer("k", 0);
  c.out(0, cast(diagonal, held_as(type)), type);
}

// ---- blocks

// The operand of either; the size of a block is at least 1.
Dims image_of_blocks(Context& c) {
  const Dims& dims = c.in(0).dims();
  if (dims.size() != 4) fail("an image [N, C, H, W] is needed, not {}", to_string(dims));
  if (c.integer("blocksize") < 1) fail("blocks of {}", c.integer("blocksize"));
  return dims;
}

void depth_to_space(Context& c) {
  const Dims d = image_of_blocks(c);
  Dim block = c.integer("blocksize"), channels = floor_div(d.at(1), block * block);
  bool dcr = c.choice("mode", "DCR", {"DCR", "CRD"}) == "DCR";
  Value x = dcr ? reshape(c.in(0), {d[0], block, block, channels, d[2], d[3]})
                : reshape(c.in(0), {d[0], channels, block, block, d[2], d[3]});
  x = dcr ? transpose(x, {0, 3, 4, 1, 5, 2}) : transpose(x, {0, 1, 4, 2, 5, 3});
  c.out_like(reshape(x, {d[0], channels, d[2] * block, d[3] * block}));
}

void space_to_depth(Context& c) {
  const Dims d = image_of_blocks(c);
  Dim block = c.integer("blocksize");
  Dim rows = floor_div(d.at(2), block), columns = floor_div(d.at(3), block);
  bool dcr = c.choice("mode", "DCR", {"DCR", "CRD"}) == "DCR";
  Value x = reshape(c.in(0), {d[0], d[1], rows, block, columns, block});
  x = dcr ? transpose(x, {0, 3, 5, 1, 2, 4}) : transpose(x, {0, 1, 3, 5, 2, 4});
  c.out_like(reshape(x, {d[0], d[1] * block * block, rows, columns}));
}

constexpr OperatorRow rows[] = {
    {"Identity", 1, identity},
    {"Shape", 1, shape_of},
    {"Size", 1, size_of_all},
    {"Reshape", 1, reshape_op},
    {"Flatten", 1, flatten},
    {"Squeeze", 1, squeeze_op},
    {"Unsqueeze", 1, unsqueeze_op},
    {"Transpose", 1, transpose_op},
    {"Expand", 8, expand},
    {"Tile", 6, tile},
    {"Concat", 1, concat_op},
    {"Split", 2, split_op},
    {"Slice", 1, slice_1},
    {"Slice", 10, slice_op},
    {"Pad", 2, pad_2},
    {"Pad", 11, pad_op},
    {"CenterCropPad", 18, center_crop_pad},
    {"ConstantOfShape", 9, constant_of_shape},
    {"Range", 11, range},
    {"EyeLike", 9, eye_like},
    {"DepthToSpace", 1, depth_to_space},
    {"SpaceToDepth", 1, space_to_depth},
};

}  // namespace

std::span<const OperatorRow> shape_operators() { return rows; }

}  // namespace fuseline::onnx
