// Partition: which values are stored, and which of them one kernel computes together.
//
// Stored values ("roots") are the graph's outputs, reductions, and values that would be computed
// too often otherwise. Roots over the same iteration space join one Region unless one depends on a
// reduction of the other. Everything between roots is pulled into the Regions that use it.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/fail.hpp"
#include "fuse/call.hpp"
#include "fuse/find_calls.hpp"
#include "fuse/rewrite.hpp"
#include "graph/op_table.hpp"

namespace fuseline {
namespace {

constexpr int cheap_operations = 16;        // recomputed in a second Region rather than stored
constexpr int max_sampled_operations = 8;   // recomputed at each tap of a sampler
constexpr int max_repeated_operations = 2;  // recomputed at each term of a contraction
constexpr std::int64_t max_unroll = 4;

bool is_leaf(OpCode op) {
  return op == OpCode::input || op == OpCode::constant || op == OpCode::dim_value;
}

Dims without_ones(const Dims& dims) {
  Dims rest;
  for (const Dim& dim : dims)
    if (dim != Dim(1)) rest.push_back(dim);
  return rest;
}

// The iteration space of a root: its sizes, or its operand's if it is a reduction.
struct Space {
  Dims dims;  // without the unrolled axis
  int unroll = 1;
  std::vector<bool> reduced;

  bool has_reduction() const {
    return std::find(reduced.begin(), reduced.end(), true) != reduced.end();
  }
  Dims kept() const {
    Dims dims_kept;
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (!reduced[i]) dims_kept.push_back(dims[i]);
    return dims_kept;
  }
};

class Partitioner {
 public:
  Partitioner(const Graph& graph, const PartitionOptions& options)
      : graph_(graph), options_(options) {}

  std::vector<Work> run() {
    count_consumers();
    calls_ = find_calls(graph_, options_, consumers_);
    choose_roots();
    while (group_roots()) groups_.clear();
    std::vector<Work> work;
    for (std::size_t g : order()) {
      if (groups_[g].call)
        work.emplace_back(build_call(groups_[g].points[0]));
      else
        work.emplace_back(build(g));
    }
    return work;
  }

 private:
  struct Group {
    Space space;
    std::vector<ValueId> points, reductions, results;
    std::set<std::size_t> before;  // groups that must run first
    bool call = false;             // a library's; nothing joins it
  };

  const Node& node(ValueId value) const { return graph_.node_of(value); }
  OpGroup kind(ValueId value) const { return info(node(value).op).group; }
  bool is_reduction(ValueId value) const { return kind(value) == OpGroup::reduction; }

  // What no output needs is left out.
  void count_consumers() {
    consumers_.resize(graph_.value_count());
    live_.resize(graph_.value_count());
    for (const NamedValue& output : graph_.outputs()) live_[output.value] = true;
    for (auto n = graph_.nodes().rbegin(); n != graph_.nodes().rend(); ++n) {
      if (!live_[n->output]) continue;
      for (ValueId input : n->inputs) {
        live_[input] = true;
        consumers_[input].push_back(n->output);
      }
    }
  }

  // ---- roots

  void add_call_roots() {
    for (const auto& [output, call] : calls_) {
      if (!live_[output]) continue;
      add_root(output, "a library call computes it");
      for (ValueId inner : call.operations)
        if (inner != output) absorbed_.insert(inner);
      for (ValueId operand : call.operands)
        if (!is_leaf(node(operand).op)) add_root(operand, "a library call reads it");
    }
  }

  void choose_roots() {
    add_call_roots();
    std::vector<int> cost(graph_.value_count());
    for (const Node& n : graph_.nodes()) {
      ValueId v = n.output;
      if (is_leaf(n.op) || !live_[v] || absorbed_.contains(v)) continue;
      int sum = 1;
      for (ValueId input : n.inputs) sum += is_root(input) ? 0 : cost[input];
      cost[v] = std::min(sum, 1 << 20);
      if (!options_.fuse)
        add_root(v, "fusion is off");
      else if (is_reduction(v))
        add_root(v, "a reduction ends its iteration space");
      else if (sum > options_.max_operations && too_large_.insert(v).second)
        add_root(v, fmt::format("more than {} operations", options_.max_operations));
      else if (sum > max_sampled_operations && feeds_sampler(v))
        add_root(v, "a sampler reads it at several places");
      else if (sum > max_repeated_operations && feeds_contraction(v))
        add_root(v, "a contraction reads it again and again");
    }
    for (const NamedValue& output : graph_.outputs()) add_root(output.value, "a graph output");
    cost_ = std::move(cost);
  }

  bool feeds_sampler(ValueId value) const {
    return std::any_of(consumers_[value].begin(), consumers_[value].end(), [&](ValueId user) {
      return node(user).op == OpCode::resize && node(user).attributes.text("mode") == "linear";
    });
  }

  // Every element is read once a row, column or place of the kernel.
  bool feeds_contraction(ValueId value) const {
    return std::any_of(consumers_[value].begin(), consumers_[value].end(), [&](ValueId user) {
      return info(node(user).op).space != nullptr || node(user).op == OpCode::window;
    });
  }

  void add_root(ValueId value, std::string reason) { reasons_.emplace(value, std::move(reason)); }
  bool is_root(ValueId value) const { return reasons_.contains(value); }

  Space space_of(ValueId root) const {
    Space space;
    const Node& n = node(root);
    bool with_index = false;
    if (is_reduction(root)) {
      ReductionSpace walked = reduction_space(graph_, n);
      space.dims = walked.dims;
      space.reduced = walked.reduced;
      with_index = reduction_info(n.op).with_index;
    } else {
      space.dims = graph_.type(root).dims;
      space.reduced.assign(space.dims.size(), false);
    }
    bool small = space.dims.size() >= 2 && space.dims.back().is_constant() &&
                 space.dims.back().constant() > 1 && space.dims.back().constant() <= max_unroll;
    if (small && !with_index) {
      space.unroll = static_cast<int>(space.dims.back().constant());
      space.dims.pop_back();
      space.reduced.pop_back();
    }
    return space;
  }

  // ---- groups

  // Stored values that `root` reads through unstored ones.
  std::set<ValueId> stored_inputs(ValueId root) const {
    std::set<ValueId> found, seen;
    std::vector<ValueId> todo(node(root).inputs.begin(), node(root).inputs.end());
    while (!todo.empty()) {
      ValueId v = todo.back();
      todo.pop_back();
      if (!seen.insert(v).second) continue;
      if (is_root(v) && !is_leaf(node(v).op))
        found.insert(v);
      else
        todo.insert(todo.end(), node(v).inputs.begin(), node(v).inputs.end());
    }
    return found;
  }

  bool reaches(std::size_t from, std::size_t to) const {  // `to` runs before `from`
    std::vector<bool> seen(groups_.size());
    std::vector<std::size_t> todo = {from};
    while (!todo.empty()) {
      std::size_t g = todo.back();
      todo.pop_back();
      if (g == to) return true;
      if (seen[g]) continue;
      seen[g] = true;
      todo.insert(todo.end(), groups_[g].before.begin(), groups_[g].before.end());
    }
    return false;
  }

  // True when a value was made a root and grouping has to start again.
  bool group_roots() {
    group_of_.clear();
    for (const Node& n : graph_.nodes())
      if (is_root(n.output)) place(n.output);
    if (!options_.fuse) return false;
    return store_shared_values();
  }

  void place(ValueId root) {
    std::set<std::size_t> before;
    std::set<ValueId> stored = stored_inputs(root);
    for (ValueId v : stored) before.insert(group_of_.at(v));
    if (calls_.contains(root)) {
      groups_.push_back({{}, {root}, {}, {}, before, true});
      group_of_[root] = groups_.size() - 1;
      return;
    }
    if (options_.fuse && place_as_result(root, stored, before)) return;
    Space space = space_of(root);
    for (std::size_t g = 0; options_.fuse && g < groups_.size(); ++g) {
      if (!can_join(g, space, stored, before)) continue;
      join(g, space, root, before);
      return;
    }
    groups_.push_back({space, {}, {}, {}, {}, false});
    join(groups_.size() - 1, space, root, before);
  }

  bool can_join(std::size_t g, const Space& space, const std::set<ValueId>& stored,
                const std::set<std::size_t>& before) const {
    const Group& group = groups_[g];
    if (group.call) return false;
    if (group.space.dims != space.dims || group.space.unroll != space.unroll) {
      // A value over the pixels joins one over pixels and channels, whose channels are written out.
      bool same_pixels =
          group.space.dims == space.dims && (space.unroll == 1 || group.space.unroll == 1);
      if (!same_pixels) return false;
    }
    bool both_reduce = group.space.has_reduction() && space.has_reduction();
    if (both_reduce && group.space.reduced != space.reduced) return false;
    for (ValueId v : stored)
      if (group_of_.at(v) == g && (is_reduction(v) || is_result(g, v) || too_large_.contains(v)))
        return false;
    for (std::size_t b : before)
      if (b != g && reaches(b, g)) return false;
    return true;
  }

  bool is_result(std::size_t g, ValueId v) const {
    const auto& results = groups_[g].results;
    return std::find(results.begin(), results.end(), v) != results.end();
  }

  void join(std::size_t g, const Space& space, ValueId root, const std::set<std::size_t>& before) {
    Group& group = groups_[g];
    if (space.has_reduction()) group.space.reduced = space.reduced;
    group.space.unroll = std::max(group.space.unroll, space.unroll);
    (is_reduction(root) ? group.reductions : group.points).push_back(root);
    for (std::size_t b : before)
      if (b != g) group.before.insert(b);
    group_of_[root] = g;
  }

  // A pointwise value of the kept coordinates behind a group's reductions (a mean's division)
  // belongs to that group: its last block computes it.
  bool place_as_result(ValueId root, const std::set<ValueId>& stored,
                       const std::set<std::size_t>& before) {
    if (is_reduction(root) || stored.empty()) return false;
    std::size_t g = group_of_.at(*stored.rbegin());
    Group& group = groups_[g];
    if (group.call) return false;
    bool all_here = std::all_of(stored.begin(), stored.end(), [&](ValueId v) {
      return group_of_.at(v) == g &&
             ((is_reduction(v) && space_of(v).has_reduction()) || is_result(g, v));
    });
    if (!all_here || before.size() != 1 || !only_elementwise(root)) return false;
    if (without_ones(graph_.type(root).dims) != without_ones(group.space.kept())) return false;
    if (group.space.unroll > 1)  // the channels' own reductions: shapes differ, keep it simple
      for (ValueId r : group.reductions)
        if (without_ones(graph_.type(r).dims) != without_ones(group.space.kept())) return false;
    group.results.push_back(root);
    group_of_[root] = g;
    return true;
  }

  // From the stored values to `root` there are only elementwise operations and scalar leaves.
  bool only_elementwise(ValueId root) const {
    const Node& n = node(root);
    bool ok = info(n.op).group == OpGroup::elementwise || n.op == OpCode::cast;
    if (!ok) return false;
    return std::all_of(n.inputs.begin(), n.inputs.end(), [&](ValueId v) {
      if (is_root(v) && !is_leaf(node(v).op)) return true;
      if (node(v).op == OpCode::constant || node(v).op == OpCode::dim_value)
        return graph_.type(v).dims.empty();
      return node(v).op != OpCode::input && only_elementwise(v);
    });
  }

  // Values that are not cheap and that several groups would compute are stored instead.
  bool store_shared_values() {
    std::map<ValueId, std::set<std::size_t>> users;
    for (const auto& [root, g] : group_of_) {
      std::set<ValueId> seen;
      std::vector<ValueId> todo(node(root).inputs.begin(), node(root).inputs.end());
      while (!todo.empty()) {
        ValueId v = todo.back();
        todo.pop_back();
        if (is_root(v) || is_leaf(node(v).op) || !seen.insert(v).second) continue;
        users[v].insert(g);
        todo.insert(todo.end(), node(v).inputs.begin(), node(v).inputs.end());
      }
    }
    // The last such value first: what feeds it need not be stored then.
    for (auto it = users.rbegin(); it != users.rend(); ++it)
      if (it->second.size() > 1 && cost_[it->first] > cheap_operations) {
        add_root(it->first, "several kernels need it and it is not cheap");
        return true;
      }
    return false;
  }

  std::vector<std::size_t> order() const {
    std::vector<std::size_t> sorted;
    std::vector<bool> done(groups_.size());
    auto visit = [&](auto&& self, std::size_t g) -> void {
      if (done[g]) return;
      done[g] = true;
      for (std::size_t b : groups_[g].before) self(self, b);
      sorted.push_back(g);
    };
    for (std::size_t g = 0; g < groups_.size(); ++g) visit(visit, g);
    return sorted;
  }

  // ---- building a Region

  struct Building {
    Region& region;
    std::size_t group;
    bool results;  // reductions of this group are leaves
    std::map<std::pair<ValueId, std::vector<ScalarId>>, ScalarId> memo;
    std::map<ValueId, std::vector<int>> reduction_position;  // by unrolled index
    int unrolled = 0;
  };

  Call build_call(ValueId output) const {
    Call call = calls_.at(output);
    call.reasons.push_back(
        fmt::format("{} is stored: {}", describe(output), reasons_.at(output)));
    return call;
  }

  Region build(std::size_t g) {
    const Group& group = groups_[g];
    Region region(rewrite_scalar);
    region.space = group.space.dims;
    region.reduced = group.space.reduced;
    region.unroll = group.space.unroll;
    for (std::size_t axis = 0; axis < region.space.size(); ++axis)
      region.dag.coord(static_cast<int>(axis), region.space[axis]);
    Building building{region, g, false, {}, {}, 0};
    for (ValueId root : group.points) build_point(building, root);
    for (ValueId root : group.reductions) build_reduction(building, root);
    building.results = true;
    building.memo.clear();
    for (ValueId root : group.reductions)
      if (building.reduction_position.contains(root) && is_needed_outside(root, g))
        build_result(building, root);
    for (ValueId root : group.results) build_result(building, root);
    for (const auto& [root, where] : group_of_)
      if (where == g)
        region.reasons.push_back(
            fmt::format("{} is stored: {}", describe(root), reasons_.at(root)));
    return region;
  }

  std::string describe(ValueId value) const {
    for (const NamedValue& output : graph_.outputs())
      if (output.value == value)
        return fmt::format("{} ({})", output.name, name_of(node(value).op));
    return fmt::format("%{} ({})", value, name_of(node(value).op));
  }

  bool is_needed_outside(ValueId value, std::size_t g) const {
    for (const NamedValue& output : graph_.outputs())
      if (output.value == value) return true;
    for (const auto& [root, where] : group_of_)
      if (where != g && stored_inputs(root).contains(value)) return true;
    return false;
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
    bool over_channels_only = !space_of(root).has_reduction();
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
    if (is_root(value)) {
      auto where = group_of_.at(value);
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
      if (options_.parity) result = b.region.dag.round(result);
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

  const Graph& graph_;
  PartitionOptions options_;
  std::vector<bool> live_;  // by value
  std::vector<std::vector<ValueId>> consumers_;
  std::vector<int> cost_;
  std::map<ValueId, Call> calls_;           // by the value that they store
  std::set<ValueId> absorbed_;              // computed inside a call, never stored
  std::map<ValueId, std::string> reasons_;  // the roots, and why
  std::vector<Group> groups_;
  std::map<ValueId, std::size_t> group_of_;
  std::set<ValueId> too_large_;  // what reads them does so in another Region
};

}  // namespace

std::vector<Work> partition(const Graph& graph, const PartitionOptions& options) {
  return Partitioner(graph, options).run();
}

}  // namespace fuseline
