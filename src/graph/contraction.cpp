// Contractions and windows: matrix products, correlations, neighbourhoods.
#include <algorithm>
#include <optional>

#include "base/fail.hpp"
#include "graph/scalar_ops.hpp"
#include "graph/structural.hpp"

namespace fuseline {
namespace {

using namespace scalar_ops;

Scalar at(PullContext& c, ScalarId id) { return {c.dag, id}; }
Scalar size(PullContext& c, const Dim& dim) { return {c.dag, c.dag.dim(dim)}; }
Scalar zero(PullContext& c) { return {c.dag, c.dag.integer(DType::i64, 0)}; }

std::span<const ScalarId> tail(std::span<const ScalarId> index, std::size_t first) {
  return index.subspan(first);
}

}  // namespace

// ---- matmul

ValueType infer_matmul(const InferContext& c) {
  const ValueType &a = c.inputs[0], &b = c.inputs[1];
  if (a.dtype != b.dtype || is_bool(a.dtype))
    fail("matmul: operands of types {} and {}; two of the same number type are needed",
         name_of(a.dtype), name_of(b.dtype));
  std::size_t ra = a.dims.size(), rb = b.dims.size();
  if (ra < 2 || rb < 2)
    fail("matmul: operands {} and {}; each needs two axes or more", to_string(a.dims),
         to_string(b.dims));
  if (a.dims[ra - 1] != b.dims[rb - 2])
    fail("matmul: {} by {}: {} columns meet {} rows", to_string(a.dims), to_string(b.dims),
         a.dims[ra - 1].to_string(), b.dims[rb - 2].to_string());
  Dims dims;
  std::size_t batch = std::max(ra, rb) - 2;
  for (std::size_t k = 0; k < batch; ++k) {
    Dim x = k + ra >= batch + 2 ? a.dims[k + ra - batch - 2] : Dim(1);
    Dim y = k + rb >= batch + 2 ? b.dims[k + rb - batch - 2] : Dim(1);
    dims.push_back(broadcast_dim("matmul", x, y));
  }
  dims.push_back(a.dims[ra - 2]);
  dims.push_back(b.dims[rb - 1]);
  return {a.dtype, dims};
}

ReductionSpace space_matmul(const Graph& graph, const Node& node) {
  ReductionSpace space{graph.type(node.output).dims, {}};
  space.dims.push_back(graph.type(node.inputs[0]).dims.back());
  space.reduced.assign(space.dims.size(), false);
  space.reduced.back() = true;
  return space;
}

ScalarId pull_matmul(PullContext& c, std::span<const ScalarId> index) {
  std::size_t batch = index.size() - 3;
  auto element = [&](int operand, ScalarId row, ScalarId column) {
    const Dims& dims = c.operand(operand).dims;
    std::size_t lead = dims.size() - 2;
    std::vector<ScalarId> own;
    for (std::size_t k = 0; k < lead; ++k)
      own.push_back(dims[k] == Dim(1) ? zero(c).id() : index[batch - lead + k]);
    own.push_back(row);
    own.push_back(column);
    return at(c, c.read(operand, std::move(own)));
  };
  ScalarId row = index[batch], column = index[batch + 1], inner = index[batch + 2];
  return (element(0, row, inner) * element(1, inner, column)).id();
}

// ---- correlations

namespace {

struct Geometry {
  const std::vector<std::int64_t>& strides;
  const std::vector<std::int64_t>& dilations;
  const Dims& before;
  const Dims& dims;

  explicit Geometry(const Attributes& a)
      : strides(a.integers("strides")),
        dilations(a.integers("dilations")),
        before(a.dims("before")),
        dims(a.dims("dims")) {}

  void check(std::string_view op, std::size_t spatial) const {
    bool complete = strides.size() == spatial && dilations.size() == spatial &&
                    before.size() == spatial && dims.size() == spatial;
    if (!complete)
      fail("{}: strides, dilations, before and dims need one entry for each of the {} spatial axes",
           op, spatial);
    auto positive = [](std::int64_t v) { return v >= 1; };
    if (!std::all_of(strides.begin(), strides.end(), positive) ||
        !std::all_of(dilations.begin(), dilations.end(), positive))
      fail("{}: strides and dilations are 1 or more", op);
    for (const Dim& dim : dims)
      if (dim.is_constant() && dim.constant() < 0)
        fail("{}: the result would have size {}", op, dim.constant());
  }
};

// Images are [N, C, places...], or [N, blocks, places..., block] where the channels stand in
// blocks; the last block may have lanes without a channel, whose elements are 0.
struct ImageAxes {
  std::int64_t block;
  std::size_t spatial;

  ImageAxes(const Attributes& a, const char* name, std::size_t axes)
      : block(a.integer_or(name, 0)), spatial(axes) {}
  std::size_t rank() const { return spatial + (block > 0 ? 3 : 2); }

  Dims dims(const Dim& n, const Dim& channels, const Dims& places) const {
    Dims all = {n, block > 0 ? ceil_div(channels, Dim(block)) : channels};
    all.insert(all.end(), places.begin(), places.end());
    if (block > 0) all.emplace_back(block);
    return all;
  }
  std::vector<ScalarId> index(ScalarId n, Scalar channel,
                              const std::vector<ScalarId>& places) const {
    auto step = static_cast<double>(block);
    std::vector<ScalarId> all = {n, block > 0 ? (channel / step).id() : channel.id()};
    all.insert(all.end(), places.begin(), places.end());
    if (block > 0) all.push_back((channel % step).id());
    return all;
  }
  Scalar channel(PullContext& c, std::span<const ScalarId> index) const {
    if (block == 0) return at(c, index[1]);
    return at(c, index[1]) * static_cast<double>(block) + at(c, index[2 + spatial]);
  }
};

struct Correlation {
  std::int64_t groups;
  Dim x_channels, y_channels, group_channels;
  ImageAxes x, y;

  Correlation(const Attributes& a, const Dims& w, bool transposed)
      : groups(a.integer("groups")),
        x_channels(transposed ? w[0] : w[1] * groups),
        y_channels(transposed ? w[1] * groups : w[0]),
        group_channels(transposed ? floor_div(w[0], Dim(groups)) : w[1]),
        x(a, "x_block", w.size() - 2),
        y(a, "y_block", w.size() - 2) {}
};

ValueType infer_correlation(const InferContext& c, bool transposed) {
  const ValueType &x = c.inputs[0], &w = c.inputs[1];
  if (x.dtype != w.dtype || is_bool(x.dtype))
    fail("{}: operands of types {} and {}; two of the same number type are needed", c.op,
         name_of(x.dtype), name_of(w.dtype));
  std::int64_t blocked = c.attributes.integer_or("x_block", 0) > 0;
  if (w.dims.size() < 3 || x.dims.size() != w.dims.size() + static_cast<std::size_t>(blocked))
    fail("{}: {} with weights {}; both need a spatial axis and the same rank", c.op,
         to_string(x.dims), to_string(w.dims));
  Geometry geometry(c.attributes);
  geometry.check(c.op, w.dims.size() - 2);
  std::int64_t groups = c.attributes.integer("groups");
  if (groups < 1) fail("{}: {} groups", c.op, groups);
  Correlation how(c.attributes, w.dims, transposed);
  Dims places(x.dims.begin() + 2, x.dims.end() - blocked);
  if (x.dims != how.x.dims(x.dims[0], how.x_channels, places))
    fail("{}: {} channels, but the weights {} in {} groups take {}", c.op, x.dims[1].to_string(),
         to_string(w.dims), groups, how.x_channels.to_string());
  const Dim& split = w.dims[0];  // divided among the groups
  if (split.is_constant() && split.constant() % groups != 0)
    fail("{}: {} channels cannot be divided into {} groups", c.op, split.constant(), groups);
  return {x.dtype, how.y.dims(x.dims[0], how.y_channels, geometry.dims)};
}

// [the result's axes..., channels of the group, kernel...]
ReductionSpace space_correlation(const Graph& graph, const Node& node, bool transposed) {
  const Dims& w = graph.type(node.inputs[1]).dims;
  ReductionSpace space{graph.type(node.output).dims, {}};
  space.reduced.assign(space.dims.size(), false);
  space.dims.push_back(Correlation(node.attributes, w, transposed).group_channels);
  space.dims.insert(space.dims.end(), w.begin() + 2, w.end());
  space.reduced.resize(space.dims.size(), true);
  return space;
}

void also(std::optional<Scalar>& condition, const Scalar& more) {
  condition = condition ? *condition & more : more;
}

// The result's channel; lanes without one compute 0 from the last.
Scalar feature_of(PullContext& c, const Correlation& how, std::span<const ScalarId> index,
                  std::optional<Scalar>& inside) {
  Scalar feature = how.y.channel(c, index);
  bool full = how.y.block == 0 ||
              (how.y_channels.is_constant() && how.y_channels.constant() % how.y.block == 0);
  if (full) return feature;
  Scalar count = size(c, how.y_channels);
  also(inside, feature < count);
  return min(feature, count - 1);
}

// Multiplies where the place is inside; elsewhere the term is 0.
ScalarId masked_product(PullContext& c, std::vector<ScalarId> from, std::vector<ScalarId> weight,
                        const std::optional<Scalar>& inside) {
  Scalar x = at(c, c.read(0, std::move(from)));
  if (inside) x = select(*inside, x, 0);
  return (x * at(c, c.read(1, std::move(weight)))).id();
}

}  // namespace

ValueType infer_conv(const InferContext& c) { return infer_correlation(c, false); }
ReductionSpace space_conv(const Graph& graph, const Node& node) {
  return space_correlation(graph, node, false);
}

ScalarId pull_conv(PullContext& c, std::span<const ScalarId> index) {
  Geometry g(c.node.attributes);
  const Dims &x = c.operand(0).dims, &w = c.operand(1).dims;
  Correlation how(c.node.attributes, w, false);
  std::optional<Scalar> inside;
  Scalar feature = feature_of(c, how, index, inside);
  auto inner = tail(index, how.y.rank());
  Scalar channel = at(c, inner[0]);
  if (how.groups > 1)
    channel = feature / size(c, floor_div(w[0], Dim(how.groups))) * size(c, w[1]) + channel;
  std::vector<ScalarId> places, weight = {feature.id(), inner[0]};
  for (std::size_t k = 0; k < how.x.spatial; ++k) {
    Scalar place = at(c, index[2 + k]) * static_cast<double>(g.strides[k]) +
                   at(c, inner[1 + k]) * static_cast<double>(g.dilations[k]) - size(c, g.before[k]);
    // Without padding every place is inside when the result's size is what fits.
    Dim reach = (g.dims[k] - 1) * g.strides[k] + (w[2 + k] - 1) * g.dilations[k];
    bool fits = g.before[k] == Dim(0) && (x[2 + k] - reach).is_constant() &&
                (x[2 + k] - reach).constant() >= 1;
    if (!fits) {
      Scalar extent = size(c, x[2 + k]);
      also(inside, (place >= 0) & (place < extent));
      place = max(min(place, extent - 1), 0);
    }
    places.push_back(place.id());
    weight.push_back(inner[1 + k]);
  }
  return masked_product(c, how.x.index(index[0], channel, places), std::move(weight), inside);
}

ValueType infer_conv_transpose(const InferContext& c) { return infer_correlation(c, true); }
ReductionSpace space_conv_transpose(const Graph& graph, const Node& node) {
  return space_correlation(graph, node, true);
}

// The element of the operand that a weight carries to this place, if there is one.
ScalarId pull_conv_transpose(PullContext& c, std::span<const ScalarId> index) {
  Geometry g(c.node.attributes);
  const Dims &x = c.operand(0).dims, &w = c.operand(1).dims;
  Correlation how(c.node.attributes, w, true);
  std::optional<Scalar> inside;
  Scalar feature = feature_of(c, how, index, inside);
  auto inner = tail(index, how.y.rank());
  Scalar channel = at(c, inner[0]);
  if (how.groups > 1) {
    channel = feature / size(c, w[1]) * size(c, how.group_channels) + channel;
    feature = feature % size(c, w[1]);
  }
  std::vector<ScalarId> places, weight = {channel.id(), feature.id()};
  for (std::size_t k = 0; k < how.x.spatial; ++k) {
    auto stride = static_cast<double>(g.strides[k]);
    Scalar shifted = at(c, index[2 + k]) + size(c, g.before[k]) -
                     at(c, inner[1 + k]) * static_cast<double>(g.dilations[k]);
    Scalar place = shifted / stride, extent = size(c, x[2 + k]);
    also(inside, (shifted >= 0) & (place < extent));
    if (g.strides[k] > 1) also(inside, shifted % stride == 0);
    places.push_back(max(min(place, extent - 1), 0).id());
    weight.push_back(inner[1 + k]);
  }
  return masked_product(c, how.x.index(index[0], channel, places), std::move(weight), inside);
}

// ---- windows

ValueType infer_window(const InferContext& c) {
  const ValueType& x = c.inputs[0];
  const auto& kernel = c.attributes.integers("kernel");
  std::int64_t trail = c.attributes.integer_or("trail", 0);
  if (kernel.empty() || trail < 0 ||
      kernel.size() + static_cast<std::size_t>(trail) > x.dims.size())
    fail("window: a kernel with {} axes over {}", kernel.size(), to_string(x.dims));
  Geometry geometry(c.attributes);
  geometry.check(c.op, kernel.size());
  for (std::int64_t extent : kernel)
    if (extent < 1) fail("window: kernel size {}", extent);
  if (c.inputs[1].dtype != x.dtype || !c.inputs[1].dims.empty())
    fail("window: the value outside must be a scalar of type {}", name_of(x.dtype));
  auto passed = x.dims.end() - trail;
  ValueType result{x.dtype, {x.dims.begin(), passed - static_cast<long>(kernel.size())}};
  result.dims.insert(result.dims.end(), geometry.dims.begin(), geometry.dims.end());
  result.dims.insert(result.dims.end(), passed, x.dims.end());
  for (std::int64_t extent : kernel) result.dims.emplace_back(extent);
  return result;
}

ScalarId pull_window(PullContext& c, std::span<const ScalarId> index) {
  Geometry g(c.node.attributes);
  const Dims& x = c.operand(0).dims;
  auto trail = static_cast<std::size_t>(c.node.attributes.integer_or("trail", 0));
  std::size_t spatial = g.dims.size(), lead = x.size() - spatial - trail;
  std::vector<ScalarId> from(index.begin(), index.begin() + static_cast<long>(lead));
  std::optional<Scalar> inside;
  for (std::size_t k = 0; k < spatial; ++k) {
    Scalar extent = size(c, x[lead + k]);
    Scalar place = at(c, index[lead + k]) * static_cast<double>(g.strides[k]) +
                   at(c, index[x.size() + k]) * static_cast<double>(g.dilations[k]) -
                   size(c, g.before[k]);
    Scalar here = (place >= 0) & (place < extent);
    inside = inside ? *inside & here : here;
    from.push_back(max(min(place, extent - 1), 0).id());
  }
  for (std::size_t k = 0; k < trail; ++k) from.push_back(index[lead + spatial + k]);
  Scalar element = at(c, c.read(0, std::move(from)));
  return select(*inside, element, at(c, c.read(1, {}))).id();
}

}  // namespace fuseline
