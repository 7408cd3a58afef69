// Exact rewriting of integer scalars while a Region is built.
#include "fuse/rewrite.hpp"

namespace fuseline {
namespace {

bool fits(__int128 low, __int128 high, DType dtype) {
  Range full = full_range(dtype);
  return low >= full.low && high <= full.high;
}

// A cast between integer types that changes no value the operand can have.
bool is_lossless_cast(const ScalarDag& dag, ScalarId id) {
  const ScalarNode& n = dag[id];
  if (n.kind != ScalarKind::cast || !is_integer(n.dtype) || n.dtype == DType::u64) return false;
  DType from = dag[n.args[0]].dtype;
  if (!is_integer(from) || from == DType::u64) return false;
  Range r = dag.range(n.args[0]);
  return fits(r.low, r.high, n.dtype);
}

bool is_apply(const ScalarDag& dag, ScalarId id, Intrinsic fn) {
  return dag[id].kind == ScalarKind::apply && dag[id].fn == fn;
}

// The comparison `fn` with x on the side where it stood.
ScalarId compare(ScalarDag& dag, Intrinsic fn, ScalarId x, ScalarId u, bool x_left) {
  return x_left ? dag.apply(fn, {x, u}) : dag.apply(fn, {u, x});
}

// narrow(x) ? u  ->  x ? widen(u)
std::optional<ScalarId> compare_wide(ScalarDag& dag, Intrinsic fn, ScalarId x, ScalarId u,
                                     bool x_left) {
  if (!is_lossless_cast(dag, x)) return std::nullopt;
  ScalarId inner = dag[x].args[0];
  DType wide = dag[inner].dtype;
  Range r = dag.range(u);
  if (!fits(r.low, r.high, wide)) return std::nullopt;
  return compare(dag, fn, inner, dag.cast(wide, u), x_left);
}

// (x >> c) < u  ->  x < (u << c)          u < (x >> c)   ->  (u + 1 << c) <= x
// (x >> c) <= u ->  x < (u + 1 << c)      u <= (x >> c)  ->  (u << c) <= x
std::optional<ScalarId> compare_shifted(ScalarDag& dag, Intrinsic fn, ScalarId x, ScalarId u,
                                        bool x_left) {
  if (!is_apply(dag, x, Intrinsic::shr) || (fn != Intrinsic::lt && fn != Intrinsic::le))
    return std::nullopt;
  auto bits = dag.integer_value(dag[x].args[1]);
  DType dtype = dag[x].dtype;
  if (!bits || *bits < 0 || *bits > 30 || dtype == DType::u64) return std::nullopt;
  bool plus_one = (fn == Intrinsic::le) == x_left;
  Range r = dag.range(u);
  __int128 low = static_cast<__int128>(r.low) << *bits;
  __int128 high = static_cast<__int128>(r.high + (plus_one ? 1 : 0)) << *bits;
  if (r.high > (std::int64_t{1} << 40) || !fits(low, high, dtype)) return std::nullopt;
  ScalarId limit = plus_one ? dag.apply(Intrinsic::add, {u, dag.integer(dtype, 1)}) : u;
  limit = dag.apply(Intrinsic::shl, {limit, dag.integer(dtype, *bits)});
  return compare(dag, x_left ? Intrinsic::lt : Intrinsic::le, dag[x].args[0], limit, x_left);
}

// x + k ? u  ->  x ? u - k, when neither side can wrap.
std::optional<ScalarId> compare_moved(ScalarDag& dag, Intrinsic fn, ScalarId x, ScalarId u,
                                      bool x_left) {
  bool plus = is_apply(dag, x, Intrinsic::add), minus = is_apply(dag, x, Intrinsic::sub);
  if (!plus && !minus) return std::nullopt;
  DType dtype = dag[x].dtype;
  ScalarId rest = dag[x].args[0];
  auto k = dag.integer_value(dag[x].args[1]);
  if (!k || !is_integer(dtype) || dtype == DType::u64) return std::nullopt;
  if (minus) k = -*k;
  Range r = dag.range(rest), limit = dag.range(u);
  bool safe =
      fits(static_cast<__int128>(r.low) + *k, static_cast<__int128>(r.high) + *k, dtype) &&
      fits(static_cast<__int128>(limit.low) - *k, static_cast<__int128>(limit.high) - *k, dtype) &&
      fits(*k, *k, dtype);
  if (!safe) return std::nullopt;
  ScalarId moved = dag.apply(Intrinsic::sub, {u, dag.integer(dtype, *k)});
  return compare(dag, fn, rest, moved, x_left);
}

std::optional<ScalarId> rewrite_comparison(ScalarDag& dag, const ScalarNode& n) {
  for (bool x_left : {true, false}) {
    ScalarId x = n.args[x_left ? 0 : 1], u = n.args[x_left ? 1 : 0];
    if (!dag.is_uniform(u) || dag.is_uniform(x)) continue;
    for (auto rule : {compare_wide, compare_shifted, compare_moved})
      if (auto better = rule(dag, n.fn, x, u, x_left)) return better;
  }
  return std::nullopt;
}

bool is_literal_select(const ScalarDag& dag, ScalarId id) {
  const ScalarNode& n = dag[id];
  return n.kind == ScalarKind::select && dag.is_literal(n.args[1]) && dag.is_literal(n.args[2]);
}

// f(select(c, l1, l2), l3): both outcomes are literals.
std::optional<ScalarId> distribute(ScalarDag& dag, const ScalarNode& n) {
  int choice = -1;
  for (std::size_t i = 0; i < n.args.size(); ++i) {
    if (dag.is_literal(n.args[i])) continue;
    if (choice >= 0 || !is_literal_select(dag, n.args[i])) return std::nullopt;
    choice = static_cast<int>(i);
  }
  if (choice < 0) return std::nullopt;
  ScalarNode chosen = dag[n.args[static_cast<std::size_t>(choice)]];
  ScalarNode first = n, second = n;
  first.args[static_cast<std::size_t>(choice)] = chosen.args[1];
  second.args[static_cast<std::size_t>(choice)] = chosen.args[2];
  return dag.select(chosen.args[0], dag.add(std::move(first)), dag.add(std::move(second)));
}

}  // namespace

std::optional<ScalarId> rewrite_scalar(ScalarDag& dag, const ScalarNode& n) {
  if (n.kind == ScalarKind::select && n.dtype == DType::bool_) {
    auto a = dag.integer_value(n.args[1]), b = dag.integer_value(n.args[2]);
    if (a == 1 && b == 0) return n.args[0];
    if (a == 0 && b == 1) return dag.apply(Intrinsic::bit_not, {n.args[0]});
  }
  if (n.kind == ScalarKind::cast) return distribute(dag, n);
  if (n.kind != ScalarKind::apply) return std::nullopt;
  if (info(n.fn).cls == IntrinsicClass::cmp && is_integer(dag[n.args[0]].dtype))
    if (auto better = rewrite_comparison(dag, n)) return better;
  return distribute(dag, n);
}

}  // namespace fuseline
