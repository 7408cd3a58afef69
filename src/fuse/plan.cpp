// KernelPlan: affine addresses, collapsing of axes, choice of strategy and lanes.
#include "fuse/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/fail.hpp"

namespace fuseline {

std::string stride_symbol(ValueId value, std::size_t axis) {
  return "$stride." + std::to_string(value) + "." + std::to_string(axis);
}

Dims strides_of(ValueId value, const Dims& dims, Placement placement) {
  Dims strides(dims.size());
  Dim step = 1;
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    bool dense = dims.size() - axis <= static_cast<std::size_t>(placement.dense_tail);
    strides[axis] = dense ? step : Dim::symbol(stride_symbol(value, axis));
    step = step * dims[axis];
  }
  return strides;
}

int KernelPlan::kept_axes() const {
  return static_cast<int>(
      std::count_if(axes.begin(), axes.end(), [](const PlanAxis& a) { return !a.reduced; }));
}

int KernelPlan::vector_axis() const {
  if (strategy == Strategy::column) return kept_axes() - 1;
  return static_cast<int>(axes.size()) - 1;
}

int KernelPlan::row_axis() const {
  constexpr std::int64_t shortest_row = 64;
  int axis = vector_axis();
  if (strategy == Strategy::row || axis < 1) return axis;
  const Dim& extent = axes[static_cast<std::size_t>(axis)].extent;
  return extent.is_constant() && extent.constant() <= shortest_row ? axis - 1 : axis;
}

namespace {

// An index as constant + sum of coefficient * coordinate over the space's axes.
struct Affine {
  std::vector<Dim> coefficients;
  Dim constant;
  bool is_constant() const {
    return std::all_of(coefficients.begin(), coefficients.end(),
                       [](const Dim& d) { return d == Dim(0); });
  }
};

class Planner {
 public:
  Planner(const Region& region, const PlanGuards& guards, const Target& target) : region_(region) {
    plan_.region = &region;
    plan_.target = target;
    plan_.guards = guards;
  }

  KernelPlan run() {
    find_needed();
    find_reads();
    find_explicit_axes();
    order_axes();
    address_outputs();
    collapse();
    choose_strategy();
    choose_lanes();
    return std::move(plan_);
  }

 private:
  std::size_t rank() const { return region_.space.size(); }

  // ---- what is used

  void mark(ScalarId id) { needed_[id] = true; }

  void find_needed() {
    needed_.assign(region_.dag.size(), false);
    for (const auto& output : region_.points)
      for (ScalarId s : output.scalars) mark(s);
    for (const auto& output : region_.results)
      for (ScalarId s : output.scalars) mark(s);
    for (const auto& reduction : region_.reductions) {
      mark(reduction.value);
      if (reduction.with_index) mark(reduction.index);
    }
    for (ScalarId id = region_.dag.size(); id-- > 0;)
      if (needed_[id])
        for (ScalarId arg : region_.dag[id].args) mark(arg);
  }

  std::optional<Affine> affine(ScalarId id) const {
    const ScalarNode& n = region_.dag[id];
    Affine result{std::vector<Dim>(rank(), Dim(0)), 0};
    switch (n.kind) {
      case ScalarKind::literal:
        result.constant = static_cast<std::int64_t>(n.bits);
        return result;
      case ScalarKind::dim:
        result.constant = n.dim;
        return result;
      case ScalarKind::coord:
        result.coefficients[static_cast<std::size_t>(n.index)] = 1;
        return result;
      case ScalarKind::apply:
        return n.dtype == DType::i64 ? affine_apply(n) : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  std::optional<Affine> affine_apply(const ScalarNode& n) const {
    if (n.args.size() != 2) return std::nullopt;
    auto a = affine(n.args[0]), b = affine(n.args[1]);
    if (!a || !b) return std::nullopt;
    if (n.fn == Intrinsic::mul) {
      if (!a->is_constant()) std::swap(a, b);
      if (!a->is_constant()) return std::nullopt;
      for (Dim& c : b->coefficients) c = c * a->constant;
      b->constant = b->constant * a->constant;
      return b;
    }
    if (n.fn != Intrinsic::add && n.fn != Intrinsic::sub) return std::nullopt;
    Dim sign = n.fn == Intrinsic::add ? 1 : -1;
    for (std::size_t k = 0; k < rank(); ++k)
      a->coefficients[k] = a->coefficients[k] + sign * b->coefficients[k];
    a->constant = a->constant + sign * b->constant;
    return a;
  }

  void find_reads() {
    for (ScalarId id = 0; id < region_.dag.size(); ++id)
      if (needed_[id] && region_.dag[id].kind == ScalarKind::read)
        if (auto access = address(region_.dag[id])) plan_.reads.emplace(id, std::move(*access));
  }

  using Step = std::pair<ScalarId, Dim>;  // an index and its stride

  std::optional<Dim> size_of_scalar(ScalarId id) const {
    const ScalarNode& n = region_.dag[id];
    if (n.kind == ScalarKind::dim) return n.dim;
    if (n.kind == ScalarKind::literal) return Dim(static_cast<std::int64_t>(n.bits));
    return std::nullopt;
  }

  bool is_division(ScalarId id, Intrinsic fn) const {
    const ScalarNode& n = region_.dag[id];
    return n.kind == ScalarKind::apply && n.fn == fn && n.dtype == DType::i64;
  }

  // i / k * (k * s) + i % k * s = i * s: what reshape took apart.
  bool join_one_quotient(std::vector<Step>& steps) const {
    for (Step& quotient : steps)
      for (std::size_t r = 0; r < steps.size(); ++r) {
        auto [rest, stride] = steps[r];
        if (!is_division(quotient.first, Intrinsic::div) || !is_division(rest, Intrinsic::rem))
          continue;
        if (region_.dag[quotient.first].args != region_.dag[rest].args) continue;
        auto divisor = size_of_scalar(region_.dag[rest].args[1]);
        if (!divisor || quotient.second != stride * *divisor) continue;
        quotient = {region_.dag[rest].args[0], stride};
        steps.erase(steps.begin() + static_cast<long>(r));
        return true;
      }
    return false;
  }
  void join_quotients(std::vector<Step>& steps) const {
    while (join_one_quotient(steps)) continue;
  }

  // Arithmetic that is the same for all lanes. Threads of a GPU compute it each for itself anyway,
  // and would lose what is known of alignment.
  bool is_term(ScalarId id) const {
    if (plan_.target.kind == DeviceKind::cuda) return false;
    std::size_t last[2] = {rank(), rank()};
    for (std::size_t k = 0; k < rank(); ++k)
      if (region_.space[k] != Dim(1)) last[region_.reduced[k]] = k;
    std::vector<ScalarId> todo = {id};
    while (!todo.empty()) {
      const ScalarNode& n = region_.dag[todo.back()];
      todo.pop_back();
      if (n.kind == ScalarKind::read || n.kind == ScalarKind::reduced) return false;
      auto axis = static_cast<std::size_t>(n.index);
      if (n.kind == ScalarKind::coord && (axis == last[0] || axis == last[1])) return false;
      todo.insert(todo.end(), n.args.begin(), n.args.end());
    }
    return true;
  }

  std::optional<Access> address(const ScalarNode& read) const {
    const RegionSource& source = region_.sources[static_cast<std::size_t>(read.index)];
    Placement placement = plan_.guards.sources[static_cast<std::size_t>(read.index)];
    Dims strides = strides_of(source.value, source.dims, placement);
    std::vector<Step> steps;
    for (std::size_t d = 0; d < read.args.size(); ++d) steps.push_back({read.args[d], strides[d]});
    join_quotients(steps);
    Access access{std::vector<Dim>(rank(), Dim(0)), Dim(0)};
    for (const auto& [id, stride] : steps) {
      auto index = affine(id);
      if (!index && !is_term(id)) return std::nullopt;
      if (!index) {
        access.terms.emplace_back(id, stride);
        continue;
      }
      for (std::size_t k = 0; k < rank(); ++k)
        access.coefficients[k] = access.coefficients[k] + stride * index->coefficients[k];
      access.constant = access.constant + stride * index->constant;
    }
    note_channel(access, read, source, placement);
    return access;
  }

  // A fixed place in a small dense inner axis: its neighbours exist, so all channels may be read.
  void note_channel(Access& access, const ScalarNode& read, const RegionSource& source,
                    Placement placement) const {
    if (source.dims.size() < 2 || placement.dense_tail < 1 || !source.dims.back().is_constant())
      return;
    auto place = region_.dag.integer_value(read.args.back());
    std::int64_t channels = source.dims.back().constant();
    if (!place || channels < 2 || channels > 4 || *place < 0 || *place >= channels) return;
    access.channel = static_cast<int>(*place);
    access.channels = static_cast<int>(channels);
  }

  // Axes whose coordinate is used other than in an affine address cannot be collapsed.
  void find_explicit_axes() {
    explicit_.assign(rank(), false);
    std::vector<bool> used(region_.dag.size());
    for (ScalarId id = region_.dag.size(); id-- > 0;) {
      if (!needed_[id]) continue;
      const ScalarNode& n = region_.dag[id];
      used[id] = used[id] || is_root(id);
      if (!used[id]) continue;
      if (n.kind == ScalarKind::coord) explicit_[static_cast<std::size_t>(n.index)] = true;
      if (auto known = plan_.reads.find(id);
          n.kind == ScalarKind::read && known != plan_.reads.end()) {
        for (const auto& [term, stride] : known->second.terms) used[term] = true;
        continue;
      }
      for (ScalarId arg : n.args) used[arg] = true;
    }
  }

  bool is_root(ScalarId id) const {
    auto has = [&](const std::vector<RegionOutput>& outputs) {
      return std::any_of(outputs.begin(), outputs.end(), [&](const RegionOutput& o) {
        return std::find(o.scalars.begin(), o.scalars.end(), id) != o.scalars.end();
      });
    };
    bool reduced = std::any_of(
        region_.reductions.begin(), region_.reductions.end(),
        [&](const auto& r) { return r.value == id || (r.with_index && r.index == id); });
    return reduced || has(region_.points) || has(region_.results);
  }

  // ---- axes

  void order_axes() {
    for (bool reduced : {false, true})
      for (std::size_t k = 0; k < rank(); ++k)
        if (region_.reduced[k] == reduced && region_.space[k] != Dim(1)) order_.push_back(k);
  }

  void address_outputs() {
    for (const RegionOutput& output : region_.points) {
      Dim inner = static_cast<std::int64_t>(output.scalars.size());
      plan_.points.push_back(output.whole.empty() ? dense_address(inner, false)
                                                  : part_address(output));
    }
    for (const RegionOutput& output : region_.results)
      plan_.results.push_back(
          dense_address(static_cast<std::int64_t>(output.scalars.size()), true));
  }

  // A dense output over the whole space, or over its kept axes.
  Access dense_address(const Dim& inner, bool kept_only) const {
    Access access{std::vector<Dim>(rank(), Dim(0)), Dim(0)};
    Dim step = inner;
    for (std::size_t k = rank(); k-- > 0;) {
      if (kept_only && region_.reduced[k]) continue;
      access.coefficients[k] = step;
      step = step * region_.space[k];
    }
    return access;
  }

  // In the tensor that it is a part of.
  Access part_address(const RegionOutput& output) const {
    Access access{std::vector<Dim>(rank(), Dim(0)), Dim(0)};
    Dim step = 1;
    for (std::size_t k = rank(); k-- > 0;) {
      access.coefficients[k] = step;
      access.constant = access.constant + output.starts[k] * step;
      step = step * output.whole[k];
    }
    return access;
  }

  template <class F>
  void for_each_access(F&& f) {
    for (auto& [id, access] : plan_.reads) f(access);
    for (Access& access : plan_.points) f(access);
    // Results have no step along reduced axes, so they never hinder collapsing those.
    for (Access& access : plan_.results) f(access);
  }

  bool can_collapse(std::size_t outer, std::size_t inner) {
    if (explicit_[outer] || explicit_[inner] || region_.reduced[outer] != region_.reduced[inner])
      return false;
    bool ok = true;
    for_each_access([&](Access& access) {
      ok = ok && access.coefficients[outer] == access.coefficients[inner] * region_.space[inner];
    });
    return ok;
  }

  void collapse() {
    plan_.axis_of.assign(rank(), -1);
    std::vector<std::size_t> inner_of;  // the innermost space axis of each plan axis
    for (std::size_t k : order_) {
      if (!inner_of.empty() && can_collapse(inner_of.back(), k)) {
        plan_.axes.back().extent = plan_.axes.back().extent * region_.space[k];
        inner_of.back() = k;
      } else {
        plan_.axes.push_back({region_.space[k], region_.reduced[k]});
        inner_of.push_back(k);
      }
      plan_.axis_of[k] = static_cast<int>(plan_.axes.size()) - 1;
    }
    bool all_reduced =
        std::find(region_.reduced.begin(), region_.reduced.end(), false) == region_.reduced.end();
    if (plan_.axes.empty()) plan_.axes.push_back({1, !region_.reductions.empty() && all_reduced});
    for_each_access([&](Access& access) {
      std::vector<Dim> collapsed;
      for (std::size_t k : inner_of) collapsed.push_back(access.coefficients[k]);
      if (inner_of.empty()) collapsed.push_back(0);
      access.coefficients = std::move(collapsed);
    });
  }

  bool steps_by_one(std::size_t axis) {
    bool found = false;
    for_each_access([&](Access& access) {
      const Dim& c = access.coefficients[axis];
      found = found || c == Dim(1) || (access.channel >= 0 && c == Dim(access.channels));
    });
    return found;
  }

  void choose_strategy() {
    auto kept = static_cast<std::size_t>(plan_.kept_axes());
    if (region_.reductions.empty() || kept == 0) return;
    if (kept == plan_.axes.size()) {  // every reduced axis has size 1
      plan_.axes.push_back({1, true});
      for_each_access([](Access& access) { access.coefficients.push_back(0); });
    }
    bool along_reduced = steps_by_one(plan_.axes.size() - 1);
    plan_.strategy = along_reduced || !steps_by_one(kept - 1) ? Strategy::row : Strategy::column;
  }

  void choose_lanes() {
    std::size_t narrow = 8, wide = 1;
    auto count = [&](DType dtype) {
      narrow = std::min(narrow, size_of(dtype));
      wide = std::max(wide, size_of(dtype));
    };
    for (const auto& [id, access] : plan_.reads) count(region_.dag[id].dtype);
    for (const auto& output : region_.points) count(output.dtype);
    for (ScalarId id = 0; id < region_.dag.size(); ++id)
      if (needed_[id] && is_value(id)) wide = std::max(wide, size_of(region_.dag[id].dtype));
    bool cuda = plan_.target.kind == DeviceKind::cuda;
    auto bytes = static_cast<std::size_t>(plan_.target.vector_bytes);
    // On a CPU four registers of the widest type: as many chains of dependent operations in flight.
    std::size_t lanes = cuda ? bytes / narrow : 4 * bytes / wide;
    plan_.lanes = static_cast<int>(std::clamp<std::size_t>(lanes, 1, 64));
    const Dim& across = plan_.axes[static_cast<std::size_t>(plan_.vector_axis())].extent;
    if (!cuda && across.is_constant())
      while (plan_.lanes > 1 && plan_.lanes > across.constant()) plan_.lanes /= 2;
    bool pairs = std::any_of(region_.reductions.begin(), region_.reductions.end(),
                             [](const auto& r) { return r.with_index; });
    // Lanes of (value, index) pairs would have to be merged by hand.
    if (pairs && plan_.strategy != Strategy::column) plan_.lanes = 1;
    // Threads next to each other already read neighbouring columns.
    if (cuda && plan_.strategy == Strategy::column) plan_.lanes = 1;
    if (!steps_by_one(static_cast<std::size_t>(plan_.vector_axis())))
      plan_.lanes = cuda ? 1 : plan_.lanes;
  }

  // Arithmetic on elements, not on indices: the register width matters for it. A count's 64-bit
  // sum is kept narrow inside a block, so a cast that only feeds a reduction does not count.
  bool is_value(ScalarId id) const {
    const ScalarNode& n = region_.dag[id];
    if (n.kind == ScalarKind::literal || region_.dag.is_uniform(id)) return false;
    if (n.kind == ScalarKind::reduced || n.kind == ScalarKind::coord) return false;
    if (n.dtype == DType::i64 || n.dtype == DType::u64) return false;
    return true;
  }

  const Region& region_;
  KernelPlan plan_;
  std::vector<bool> needed_;
  std::vector<bool> explicit_;
  std::vector<std::size_t> order_;
};

}  // namespace

KernelPlan make_plan(const Region& region, const PlanGuards& guards, const Target& target) {
  require(guards.sources.size() == region.sources.size(), "one placement a source");
  return Planner(region, guards, target).run();
}

std::string KernelPlan::describe() const {
  const char* names[] = {"flat", "row", "column"};
  std::string text = fmt::format("{} over [", names[static_cast<int>(strategy)]);
  for (std::size_t i = 0; i < axes.size(); ++i)
    text += fmt::format("{}{}{}", i ? ", " : "", axes[i].extent.to_string(),
                        axes[i].reduced ? " reduced" : "");
  text += fmt::format("], {} lanes, {}-bit index, up to {} threads a block", lanes,
                      guards.index32 ? 32 : 64, most_threads(*this));
  if (region->unroll > 1) text += fmt::format(", {} channels written out", region->unroll);
  if (guards.aligned) text += ", 16-byte aligned";
  for (std::size_t i = 0; i < guards.sources.size(); ++i)
    if (guards.sources[i].dense_tail != static_cast<int>(region->sources[i].dims.size()))
      text += fmt::format(", source {} with pitch", i);
  return text;
}

}  // namespace fuseline
