// Roots, and the groups that they form.
//
// Stored values ("roots") are the graph's outputs, reductions, what library calls read and write,
// and values that would be computed too often otherwise. Roots over the same iteration space join
// one group unless one depends on a reduction of the other. Everything between roots is pulled into
// the Regions that use it.
#include "fuse/grouping.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fuse/find_calls.hpp"
#include "fuse/op_work.hpp"
#include "fuse/parts.hpp"
#include "graph/op_table.hpp"

namespace fuseline {
namespace {

constexpr int cheap_operations = 16;        // recomputed in a second Region rather than stored
constexpr int max_sampled_operations = 8;   // recomputed at each tap of a sampler
constexpr int max_repeated_operations = 2;  // recomputed at each term of a contraction
constexpr std::int64_t max_unroll = 4;

Dims without_ones(const Dims& dims) {
  Dims rest;
  for (const Dim& dim : dims)
    if (dim != Dim(1)) rest.push_back(dim);
  return rest;
}

}  // namespace

bool is_leaf(OpCode op) {
  return op == OpCode::input || op == OpCode::constant || op == OpCode::dim_value;
}

Grouping::Grouping(const Graph& graph, const PartitionOptions& options)
    : graph_(graph), options_(options) {
  count_consumers();
  calls_ = find_calls(graph_, options_, consumers_);
  choose_roots();
  while (group_roots()) groups_.clear();
}

bool Grouping::is_reduction(ValueId value) const {
  return info(node(value).op).group == OpGroup::reduction;
}

// What no output needs is left out.
void Grouping::count_consumers() {
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

void Grouping::add_call_roots() {
  for (const auto& [output, call] : calls_) {
    if (!live_[output]) continue;
    add_root(output, "a library call computes it");
    for (ValueId inner : call.operations)
      if (inner != output) absorbed_.insert(inner);
    for (ValueId operand : call.operands)
      if (!is_leaf(node(operand).op)) add_root(operand, "a library call reads it");
  }
}

void Grouping::choose_roots() {
  add_call_roots();
  std::vector<int> cost(graph_.value_count()), count = cost;
  auto total = [&](const Node& n, const std::vector<int>& each, int own) {
    for (ValueId input : n.inputs) own += is_root(input) ? 0 : each[input];
    return std::min(own, 1 << 20);
  };
  for (const Node& n : graph_.nodes()) {
    ValueId v = n.output;
    if (is_leaf(n.op) || !live_[v] || absorbed_.contains(v)) continue;
    int sum = cost[v] = total(n, cost, work_of(n.op));
    count[v] = total(n, count, 1);
    if (!options_.fuse)
      add_root(v, "fusion is off");
    else if (is_reduction(v))
      add_root(v, "a reduction ends its iteration space");
    else if (count[v] > options_.max_operations && too_large_.insert(v).second)
      add_root(v, fmt::format("more than {} operations", options_.max_operations));
    else if (sum > max_sampled_operations && feeds_sampler(v))
      add_root(v, "a sampler reads it at several places");
    else if (sum > max_repeated_operations && feeds_contraction(v))
      add_root(v, "a contraction reads it again and again");
  }
  for (const NamedValue& output : graph_.outputs()) add_root(output.value, "a graph output");
  cost_ = std::move(cost);
}

bool Grouping::feeds_sampler(ValueId value) const {
  return std::any_of(consumers_[value].begin(), consumers_[value].end(), [&](ValueId user) {
    return node(user).op == OpCode::resize && node(user).attributes.text("mode") == "linear";
  });
}

// Every element is read once a row, column or place of the kernel.
bool Grouping::feeds_contraction(ValueId value) const {
  return std::any_of(consumers_[value].begin(), consumers_[value].end(), [&](ValueId user) {
    return info(node(user).op).space != nullptr || node(user).op == OpCode::window;
  });
}

Space Grouping::space_of(ValueId root) const {
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
std::set<ValueId> Grouping::stored_inputs(ValueId root) const {
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

bool Grouping::reaches(std::size_t from, std::size_t to) const {  // `to` runs before `from`
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
bool Grouping::group_roots() {
  group_of_.clear();
  for (const Node& n : graph_.nodes())
    if (is_root(n.output)) place(n.output);
  if (!options_.fuse) return false;
  return store_shared_values();
}

void Grouping::place(ValueId root) {
  std::set<std::size_t> before;
  std::set<ValueId> stored = stored_inputs(root);
  for (ValueId v : stored) before.insert(group_of_.at(v));
  if (is_cut(root)) return place_parts(root);
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
  groups_.push_back({space, {}, {}, {}, {}});
  join(groups_.size() - 1, space, root, before);
}

// Channels that are written out stay together.
bool Grouping::is_cut(ValueId root) const {
  if (!options_.cut_concats || !options_.fuse || calls_.contains(root) || is_reduction(root))
    return false;
  auto is_written_out = [&](const Part& part) {
    return space_of(part.value).unroll > 1 || part.sizes.empty();
  };
  std::vector<Part> parts = parts_of(graph_, root);
  return parts.size() > 1 && space_of(root).unroll == 1 &&
         std::none_of(parts.begin(), parts.end(), is_written_out);
}

std::set<ValueId> Grouping::stored_for_part(const Part& part) const {
  if (is_leaf(node(part.value).op)) return {};
  bool stored = is_root(part.value) && part.value != part.whole;
  return stored ? std::set<ValueId>{part.value} : stored_inputs(part.value);
}

void Grouping::place_part(const Part& part, std::set<std::size_t>& writers) {
  std::set<ValueId> stored = stored_for_part(part);
  std::set<std::size_t> before;
  for (ValueId v : stored) before.insert(group_of_.at(v));
  Space space{part.sizes, 1, std::vector<bool>(part.sizes.size(), false)};
  std::size_t g = 0;
  while (g < groups_.size() && !can_join(g, space, stored, before)) ++g;
  if (g == groups_.size()) groups_.push_back({space, {}, {}, {}, {}});
  for (std::size_t b : before)
    if (b != g) groups_[g].before.insert(b);
  groups_[g].parts.push_back(part);
  writers.insert(g);
}

void Grouping::place_parts(ValueId root) {
  std::set<std::size_t> writers;
  for (const Part& part : parts_of(graph_, root)) place_part(part, writers);
  groups_.push_back({{}, {}, {}, {}, writers, false, true});
  group_of_[root] = groups_.size() - 1;
}

bool Grouping::can_join(std::size_t g, const Space& space, const std::set<ValueId>& stored,
                        const std::set<std::size_t>& before) const {
  const Group& group = groups_[g];
  if (group.call || group.is_whole) return false;
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

bool Grouping::is_result(std::size_t g, ValueId v) const {
  const auto& results = groups_[g].results;
  return std::find(results.begin(), results.end(), v) != results.end();
}

void Grouping::join(std::size_t g, const Space& space, ValueId root,
                    const std::set<std::size_t>& before) {
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
bool Grouping::place_as_result(ValueId root, const std::set<ValueId>& stored,
                               const std::set<std::size_t>& before) {
  if (is_reduction(root) || stored.empty()) return false;
  std::size_t g = group_of_.at(*stored.rbegin());
  Group& group = groups_[g];
  if (group.call || group.is_whole) return false;
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
bool Grouping::only_elementwise(ValueId root) const {
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
bool Grouping::store_shared_values() {
  std::map<ValueId, std::set<std::size_t>> users;
  auto walk = [&](std::vector<ValueId> todo, std::size_t g) {
    std::set<ValueId> seen;
    while (!todo.empty()) {
      ValueId v = todo.back();
      todo.pop_back();
      if (is_root(v) || is_leaf(node(v).op) || !seen.insert(v).second) continue;
      users[v].insert(g);
      todo.insert(todo.end(), node(v).inputs.begin(), node(v).inputs.end());
    }
  };
  for (const auto& [root, g] : group_of_)
    if (!groups_[g].is_whole) walk(node(root).inputs, g);
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (const Part& part : groups_[g].parts)
      walk(part.value == part.whole ? node(part.value).inputs : std::vector<ValueId>{part.value},
           g);
  // The last such value first: what feeds it need not be stored then.
  for (auto it = users.rbegin(); it != users.rend(); ++it)
    if (it->second.size() > 1 && cost_[it->first] > cheap_operations) {
      add_root(it->first, "several kernels need it and it is not cheap");
      return true;
    }
  return false;
}

std::vector<std::size_t> Grouping::order() const {
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

}  // namespace fuseline
