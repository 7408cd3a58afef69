// Pulling, point by point of the group's space.
#include "fuse/build_region.hpp"

#include <algorithm>
#include <optional>

#include "base/fail.hpp"
#include "fuse/rewrite.hpp"
#include "graph/op_table.hpp"

namespace fuseline {
namespace {

class RegionBuilder {
 public:
  RegionBuilder(const Grouping& grouping, bool parity)
      : grouping_(grouping), graph_(grouping.graph()), parity_(parity) {}

  Region build(std::size_t g) {
    const Group& group = grouping_.groups()[g];
    Region region(rewrite_scalar);
    region.space = group.space.dims;
    region.reduced = group.space.reduced;
    region.unroll = group.space.unroll;
    for (std::size_t axis = 0; axis < region.space.size(); ++axis)
      region.dag.coord(static_cast<int>(axis), region.space[axis]);
    Building building{region, g, false, {}, {}, 0};
    for (ValueId root : group.points) build_point(building, root);
    for (const Part& part : group.parts) build_part(building, part);
    for (ValueId root : group.reductions) build_reduction(building, root);
    building.results = true;
    building.memo.clear();
    for (ValueId root : group.reductions)
      if (building.reduction_position.contains(root) && is_needed_outside(root, g))
        build_result(building, root);
    for (ValueId root : group.results) build_result(building, root);
    for (const auto& [root, where] : grouping_.group_of())
      if (where == g)
        region.reasons.push_back(
            fmt::format("{} is stored: {}", describe_value(graph_, root), grouping_.reason(root)));
    return region;
  }

  bool is_needed_outside(ValueId value, std::size_t g) const {
    for (const NamedValue& output : graph_.outputs())
      if (output.value == value) return true;
    for (const auto& [root, where] : grouping_.group_of())
      if (where != g && grouping_.stored_inputs(root).contains(value)) return true;
    return false;
  }

 private:
  struct Building {
    Region& region;
    std::size_t group;
    bool results;  // reductions of this group are leaves
    std::map<std::pair<ValueId, std::vector<ScalarId>>, ScalarId> memo;
    std::map<ValueId, std::vector<int>> reduction_position;  // by unrolled index
    int unrolled = 0;
  };

  const Node& node(ValueId value) const { return graph_.node_of(value); }
  bool is_reduction(ValueId value) const {
    return info(node(value).op).group == OpGroup::reduction;
  }

  std::vector<ScalarId> coordinates(Region& region) {
    std::vector<ScalarId> index;
    for (std::size_t axis = 0; axis < region.space.size(); ++axis)
      index.push_back(region.dag.coord(static_cast<int>(axis), region.space[axis]));
    return index;
  }

  void build_point(Building& b, ValueId root) {
    RegionOutput output{root, graph_.type(root).dtype, {}};
    bool inner = graph_.type(root).dims.size() > b.region.space.size();
    for (int u = 0; u < (inner ? b.region.unroll : 1); ++u) {
      auto index = coordinates(b.region);
      if (inner) index.push_back(b.region.dag.integer(DType::i64, u));
      output.scalars.push_back(compute(b, root, index));
    }
    b.region.points.push_back(std::move(output));
  }

  void build_part(Building& b, const Part& part) {
    const ValueType& type = graph_.type(part.whole);
    RegionOutput output{part.whole, type.dtype, {}, type.dims, part.starts};
    std::vector<ScalarId> index = coordinates(b.region);
    for (std::size_t k = 0; k < index.size(); ++k)
      if (part.from[k] != Dim(0))
        index[k] = b.region.dag.apply(Intrinsic::add, {index[k], b.region.dag.dim(part.from[k])});
    bool is_whole = part.value == part.whole;  // stored in parts, so not to be read
    output.scalars.push_back(is_whole ? compute(b, part.value, index) : pull(b, part.value, index));
    b.region.points.push_back(std::move(output));
    b.region.reasons.push_back(fmt::format("a part of {} is stored: {}",
                                           describe_value(graph_, part.whole),
                                           grouping_.reason(part.whole)));
  }

  void build_reduction(Building& b, ValueId root) {
    const Node& n = node(root);
    Region& region = b.region;
    ReductionInfo how = reduction_info(n.op);
    ReductionSpace space = reduction_space(graph_, n);
    bool inner = space.dims.size() > region.space.size();
    bool inner_reduced = inner && space.reduced.back();
    DType dtype = accumulator_type(graph_.type(n.inputs[0]).dtype);
    std::vector<ScalarId> values;
    for (int u = 0; u < (inner ? region.unroll : 1); ++u) {
      auto index = coordinates(region);
      if (inner) index.push_back(region.dag.integer(DType::i64, u));
      ScalarId value = region.dag.cast(dtype, term(b, n, index));
      if (inner_reduced && u > 0)
        values[0] = region.dag.apply(how.combine, {values[0], value});
      else
        values.push_back(value);
    }
    bool over_channels_only = !grouping_.space_of(root).has_reduction();
    if (over_channels_only) {  // nothing is left to reduce: a pointwise value
      b.region.points.push_back(
          {root, graph_.type(root).dtype, {region.dag.cast(graph_.type(root).dtype, values[0])}});
      region.operations.push_back(root);
      return;
    }
    ScalarId index = 0;
    auto first = std::find(space.reduced.begin(), space.reduced.end(), true);
    if (how.with_index)
      index = coordinates(region)[static_cast<std::size_t>(first - space.reduced.begin())];
    for (ScalarId value : values) {
      b.reduction_position[root].push_back(static_cast<int>(region.reductions.size()));
      region.reductions.push_back({how.combine, how.with_index, dtype, value, index});
    }
    region.operations.push_back(root);
  }

  // What a reduction combines at a place of its space.
  ScalarId term(Building& b, const Node& n, const std::vector<ScalarId>& index) {
    PullContext context{b.region.dag, graph_, n, [&](int operand, std::vector<ScalarId> at) {
                          return pull(b, n.inputs[static_cast<std::size_t>(operand)], at);
                        }};
    return reduction_term(context, index);
  }

  void build_result(Building& b, ValueId root) {
    RegionOutput output{root, graph_.type(root).dtype, {}};
    std::size_t parts = is_reduction(root) ? b.reduction_position.at(root).size() : 1;
    for (std::size_t u = 0; u < parts; ++u) {
      b.unrolled = static_cast<int>(u);
      output.scalars.push_back(is_reduction(root) ? reduced_leaf(b, root)
                                                  : compute(b, root, result_index(b, root)));
    }
    b.region.results.push_back(std::move(output));
  }

  ScalarId reduced_leaf(Building& b, ValueId root) {
    int position = b.reduction_position.at(root)[static_cast<std::size_t>(b.unrolled)];
    const RegionReduction& r = b.region.reductions[static_cast<std::size_t>(position)];
    ScalarId leaf = b.region.dag.reduced(position, r.with_index ? DType::i64 : r.dtype);
    return b.region.dag.cast(graph_.type(root).dtype, leaf);
  }

  // Kept coordinates in order; axes of size 1 (keepdims) have coordinate 0.
  std::vector<ScalarId> result_index(Building& b, ValueId root) {
    std::vector<ScalarId> kept, index;
    auto all = coordinates(b.region);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!b.region.reduced[i] && b.region.space[i] != Dim(1)) kept.push_back(all[i]);
    std::size_t next = 0;
    for (const Dim& dim : graph_.type(root).dims)
      index.push_back(dim == Dim(1) ? b.region.dag.integer(DType::i64, 0) : kept[next++]);
    return index;
  }

  // The scalar of a value of this region at an index.
  ScalarId pull(Building& b, ValueId value, const std::vector<ScalarId>& index) {
    const Node& n = node(value);
    if (n.op == OpCode::constant && graph_.type(value).dims.empty()) return constant(b, n);
    if (n.op == OpCode::input || n.op == OpCode::constant) return read(b, value, index);
    if (grouping_.is_root(value)) {
      auto where = grouping_.group_of().at(value);
      bool here = where == b.group;
      if (here && b.results && is_reduction(value)) return reduced_leaf(b, value);
      if (!here || is_reduction(value)) return read(b, value, index);
      // A value stored by this very kernel is computed again only at another place.
    }
    return compute(b, value, index);
  }

  ScalarId compute(Building& b, ValueId value, const std::vector<ScalarId>& index) {
    auto key = std::make_pair(value, index);
    if (auto known = b.memo.find(key); known != b.memo.end()) return known->second;
    const Node& n = node(value);
    ScalarId result;
    if (n.op == OpCode::input || n.op == OpCode::constant) {
      result = pull(b, value, index);
    } else {
      PullContext context{b.region.dag, graph_, n, [&](int operand, std::vector<ScalarId> at) {
                            return pull(b, n.inputs[static_cast<std::size_t>(operand)], at);
                          }};
      result = info(n.op).pull(context, index);
      if (parity_) result = b.region.dag.round(result);
      auto& done = b.region.operations;
      if (std::find(done.begin(), done.end(), value) == done.end()) done.push_back(value);
    }
    b.memo.emplace(std::move(key), result);
    return result;
  }

  ScalarId read(Building& b, ValueId value, const std::vector<ScalarId>& index) {
    auto& sources = b.region.sources;
    auto found = std::find_if(sources.begin(), sources.end(),
                              [&](const auto& s) { return s.value == value; });
    auto position = static_cast<int>(found - sources.begin());
    const ValueType& type = graph_.type(value);
    if (found == sources.end()) sources.push_back({value, type.dtype, type.dims});
    return b.region.dag.read(position, type.dtype, index);
  }

  // Constants that rewriting can use stay literals; all others are parameters of the kernel.
  ScalarId constant(Building& b, const Node& n) {
    const Tensor& tensor = n.attributes.tensor("value");
    DType dtype = tensor.dtype();
    Number value = load_number(tensor.data(), dtype);
    if (is_structural(value, dtype))
      return b.region.dag.add({.kind = ScalarKind::literal, .dtype = dtype, .bits = value.bits});
    auto& params = b.region.params;
    for (std::size_t i = 0; i < params.size(); ++i)
      if (params[i].dtype == dtype && params[i].value.bits == value.bits)
        return b.region.dag.param(static_cast<int>(i), dtype);
    params.push_back({dtype, value});
    return b.region.dag.param(static_cast<int>(params.size()) - 1, dtype);
  }

  static bool is_structural(Number value, DType dtype) {
    if (is_float(dtype)) {
      double d = value.d;
      return d == 0 || d == 1 || d == -1 || d == 2 || d == 0.5 || d != d || d - d != 0;
    }
    if (is_bool(dtype)) return true;
    Range range = full_range(dtype);
    return (value.i >= -1 && value.i <= 2) || value.i == range.low || value.i == range.high;
  }

  const Grouping& grouping_;
  const Graph& graph_;
  bool parity_;
};

}  // namespace

std::string describe_value(const Graph& graph, ValueId value) {
  for (const NamedValue& output : graph.outputs())
    if (output.value == value)
      return fmt::format("{} ({})", output.name, name_of(graph.node_of(value).op));
  return fmt::format("%{} ({})", value, name_of(graph.node_of(value).op));
}

Region build_region(const Grouping& grouping, std::size_t group, bool parity) {
  return RegionBuilder(grouping, parity).build(group);
}

}  // namespace fuseline
