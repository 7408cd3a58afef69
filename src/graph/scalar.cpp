// Scalar DAG: hash-consing, facts (uniformity, integer ranges) and folding.
#include "graph/scalar.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/fail.hpp"

namespace fuseline {
namespace {

std::string key_of(const ScalarNode& n) {
  std::string key;
  key += static_cast<char>(n.kind);
  key += static_cast<char>(n.dtype);
  key += static_cast<char>(n.fn);
  key.append(reinterpret_cast<const char*>(&n.index), sizeof n.index);
  key.append(reinterpret_cast<const char*>(&n.bits), sizeof n.bits);
  for (ScalarId arg : n.args) key.append(reinterpret_cast<const char*>(&arg), sizeof arg);
  if (n.kind == ScalarKind::dim) key += n.dim.to_string();
  return key;
}

Range hull(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

// [low, high] if the type holds it, otherwise everything (the arithmetic may wrap).
Range fit(__int128 low, __int128 high, DType dtype) {
  Range full = full_range(dtype);
  if (low < full.low || high > full.high) return full;
  return {static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

Range product_range(Range a, Range b, DType dtype) {
  __int128 corners[] = {static_cast<__int128>(a.low) * b.low, static_cast<__int128>(a.low) * b.high,
                        static_cast<__int128>(a.high) * b.low,
                        static_cast<__int128>(a.high) * b.high};
  return fit(*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4),
             dtype);
}

Range apply_range(Intrinsic fn, DType dtype, Range a, Range b) {
  switch (fn) {
    case Intrinsic::add:
      return fit(static_cast<__int128>(a.low) + b.low, static_cast<__int128>(a.high) + b.high,
                 dtype);
    case Intrinsic::sub:
      return fit(static_cast<__int128>(a.low) - b.high, static_cast<__int128>(a.high) - b.low,
                 dtype);
    case Intrinsic::mul:
      return product_range(a, b, dtype);
    case Intrinsic::min:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Intrinsic::max:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case Intrinsic::div:
      if (a.low >= 0 && b.low > 0) return {a.low / b.high, a.high / b.low};
      return full_range(dtype);
    case Intrinsic::rem:
      if (a.low >= 0 && b.low > 0) return {0, std::min(a.high, b.high - 1)};
      return full_range(dtype);
    case Intrinsic::shr:
      if (b.low == b.high && b.low >= 0 && b.low < static_cast<std::int64_t>(8 * size_of(dtype)))
        return {a.low >> b.low, a.high >> b.low};
      return full_range(dtype);
    case Intrinsic::shl:
      if (b.low == b.high && b.low >= 0 && b.low < 63)
        return fit(static_cast<__int128>(a.low) << b.low, static_cast<__int128>(a.high) << b.low,
                   dtype);
      return full_range(dtype);
    case Intrinsic::abs:
      if (a.low >= 0) return a;
      return fit(0, std::max(-static_cast<__int128>(a.low), static_cast<__int128>(a.high)), dtype);
    case Intrinsic::bit_and:
      if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
      return full_range(dtype);
    default:
      return info(fn).cls == IntrinsicClass::cmp ? Range{0, 1} : full_range(dtype);
  }
}

}  // namespace

ScalarDag::Facts ScalarDag::facts_of(const ScalarNode& n) const {
  Facts facts{
      n.kind != ScalarKind::coord && n.kind != ScalarKind::read && n.kind != ScalarKind::reduced,
      full_range(n.dtype)};
  for (ScalarId arg : n.args) facts.uniform = facts.uniform && facts_[arg].uniform;
  // A Range cannot hold the upper half of u64, so nothing is concluded from or about that type.
  bool tracked = !is_float(n.dtype) && n.dtype != DType::u64;
  for (ScalarId arg : n.args) tracked = tracked && nodes_[arg].dtype != DType::u64;
  if (!tracked) return facts;
  switch (n.kind) {
    case ScalarKind::literal: {
      std::int64_t v = static_cast<std::int64_t>(n.bits);
      facts.range = {v, v};
      break;
    }
    case ScalarKind::coord:
      facts.range = coord_ranges_.at(n.index);
      break;
    case ScalarKind::dim:
      facts.range = {-(std::int64_t{1} << 40), std::int64_t{1} << 40};
      break;
    case ScalarKind::select:
      facts.range = hull(facts_[n.args[1]].range, facts_[n.args[2]].range);
      break;
    case ScalarKind::cast: {
      if (is_float(nodes_[n.args[0]].dtype)) break;
      Range inner = facts_[n.args[0]].range;
      if (inner.low >= facts.range.low && inner.high <= facts.range.high) facts.range = inner;
      break;
    }
    case ScalarKind::apply: {
      if (is_float(nodes_[n.args[0]].dtype)) break;  // a comparison of floats
      Range a = facts_[n.args[0]].range;
      facts.range = apply_range(n.fn, n.dtype, a, n.args.size() > 1 ? facts_[n.args[1]].range : a);
      break;
    }
    default:
      break;
  }
  return facts;
}

ScalarId ScalarDag::add(ScalarNode node) {
  std::string key = key_of(node);
  if (auto found = known_.find(key); found != known_.end()) return found->second;
  std::optional<ScalarId> better = fold(node);
  if (!better) better = fold_neutral(node);
  if (!better && rewrite_) better = rewrite_(*this, node);
  if (better) {
    known_.emplace(std::move(key), *better);
    return *better;
  }
  ScalarId id = size();
  facts_.push_back(facts_of(node));
  nodes_.push_back(std::move(node));
  known_.emplace(std::move(key), id);
  return id;
}

std::optional<std::int64_t> ScalarDag::integer_value(ScalarId id) const {
  const ScalarNode& n = nodes_[id];
  if (n.kind != ScalarKind::literal || is_float(n.dtype)) return std::nullopt;
  return static_cast<std::int64_t>(n.bits);
}

// All arguments known: compute. Floats stay in double, rounded to their type as a kernel would.
std::optional<ScalarId> ScalarDag::fold(const ScalarNode& n) {
  bool computable =
      n.kind == ScalarKind::apply || n.kind == ScalarKind::cast || n.kind == ScalarKind::round;
  if (!computable) return std::nullopt;
  Number args[3];
  for (std::size_t i = 0; i < n.args.size(); ++i) {
    if (!is_literal(n.args[i])) return std::nullopt;
    args[i].bits = nodes_[n.args[i]].bits;
  }
  DType from = nodes_[n.args[0]].dtype;
  Number value = n.kind == ScalarKind::apply
                     ? apply_intrinsic(n.fn, from, std::span(args, n.args.size()))
                     : convert(args[0], from, n.dtype);
  if (is_float(n.dtype)) value = round_to(value, n.dtype);
  return add({.kind = ScalarKind::literal, .dtype = n.dtype, .bits = value.bits});
}

std::optional<ScalarId> ScalarDag::fold_neutral(const ScalarNode& n) {
  auto value = [&](std::size_t i) { return integer_value(n.args[i]); };
  if (n.kind == ScalarKind::dim && n.dim.is_constant())
    return integer(DType::i64, n.dim.constant());
  if (n.kind == ScalarKind::cast && nodes_[n.args[0]].dtype == n.dtype) return n.args[0];
  if (n.kind == ScalarKind::select) {
    if (n.args[1] == n.args[2]) return n.args[1];
    if (auto c = value(0)) return *c ? n.args[1] : n.args[2];
    return std::nullopt;
  }
  if (n.kind != ScalarKind::apply || is_float(n.dtype) || n.args.size() != 2) return std::nullopt;
  if (is_float(nodes_[n.args[0]].dtype)) return std::nullopt;
  auto a = value(0), b = value(1);
  switch (n.fn) {
    case Intrinsic::add:
      if (a == 0) return n.args[1];
      if (b == 0) return n.args[0];
      break;
    case Intrinsic::sub:
    case Intrinsic::shl:
    case Intrinsic::shr:
      if (b == 0) return n.args[0];
      break;
    case Intrinsic::min:
    case Intrinsic::max: {
      if (n.dtype == DType::u64) break;  // whose ranges are cut
      bool least = n.fn == Intrinsic::min;
      Range x = range(n.args[0]), y = range(n.args[1]);
      if (least ? x.high <= y.low : x.low >= y.high) return n.args[0];
      if (least ? y.high <= x.low : y.low >= x.high) return n.args[1];
      break;
    }
    case Intrinsic::mul:
      if (a == 0 || b == 1) return n.args[0];
      if (b == 0 || a == 1) return n.args[1];
      break;
    case Intrinsic::div:
      if (b == 1) return n.args[0];
      break;
    case Intrinsic::rem:
      if (b == 1) return integer(n.dtype, 0);
      break;
    case Intrinsic::lt:
      if (nodes_[n.args[0]].dtype == DType::u64) break;
      if (range(n.args[0]).low >= range(n.args[1]).high) return integer(DType::bool_, 0);
      if (range(n.args[0]).high < range(n.args[1]).low) return integer(DType::bool_, 1);
      break;
    default:
      break;
  }
  return std::nullopt;
}

ScalarId ScalarDag::literal(DType dtype, double value) {
  require(is_float(dtype), "literal() makes floats");
  Number n;
  n.d = value;
  return add({.kind = ScalarKind::literal, .dtype = dtype, .bits = round_to(n, dtype).bits});
}

ScalarId ScalarDag::integer(DType dtype, std::int64_t value) {
  require(!is_float(dtype), "integer() makes integers");
  Number n;
  n.i = value;
  n = convert(n, DType::i64, dtype);
  return add({.kind = ScalarKind::literal, .dtype = dtype, .bits = n.bits});
}

ScalarId ScalarDag::coord(int axis, const Dim& extent) {
  std::int64_t high = extent.is_constant() ? std::max<std::int64_t>(extent.constant() - 1, 0)
                                           : (std::int64_t{1} << 40);
  coord_ranges_[axis] = {0, high};
  return add({.kind = ScalarKind::coord, .dtype = DType::i64, .index = axis});
}

ScalarId ScalarDag::dim(const Dim& dim) {
  return add({.kind = ScalarKind::dim, .dtype = DType::i64, .dim = dim});
}

ScalarId ScalarDag::read(int source, DType dtype, std::vector<ScalarId> indices) {
  return add(
      {.kind = ScalarKind::read, .dtype = dtype, .index = source, .args = std::move(indices)});
}

ScalarId ScalarDag::param(int position, DType dtype) {
  return add({.kind = ScalarKind::param, .dtype = dtype, .index = position});
}

ScalarId ScalarDag::apply(Intrinsic fn, std::vector<ScalarId> args) {
  const IntrinsicInfo& f = info(fn);
  require(args.size() == static_cast<std::size_t>(f.arity),
          "intrinsic with a wrong number of operands");
  DType dtype = nodes_[args[0]].dtype;
  for (ScalarId arg : args) require(nodes_[arg].dtype == dtype, "intrinsic on mixed types");
  require(f.cls != IntrinsicClass::real || is_float(dtype), "floating-point intrinsic on integers");
  require(f.cls != IntrinsicClass::logic || !is_float(dtype), "bit intrinsic on floats");
  if (f.cls == IntrinsicClass::cmp) dtype = DType::bool_;
  return add({.kind = ScalarKind::apply, .dtype = dtype, .fn = fn, .args = std::move(args)});
}

ScalarId ScalarDag::select(ScalarId condition, ScalarId a, ScalarId b) {
  require(nodes_[condition].dtype == DType::bool_ && nodes_[a].dtype == nodes_[b].dtype,
          "select on mismatched types");
  return add({.kind = ScalarKind::select, .dtype = nodes_[a].dtype, .args = {condition, a, b}});
}

ScalarId ScalarDag::cast(DType to, ScalarId a) {
  return add({.kind = ScalarKind::cast, .dtype = to, .args = {a}});
}

ScalarId ScalarDag::round(ScalarId a) {
  DType dtype = nodes_[a].dtype;
  if (dtype != DType::f16 && dtype != DType::bf16) return a;  // wider types compute in themselves
  return add({.kind = ScalarKind::round, .dtype = dtype, .args = {a}});
}

ScalarId ScalarDag::reduced(int position, DType dtype) {
  return add({.kind = ScalarKind::reduced, .dtype = dtype, .index = position});
}

std::string ScalarDag::to_text(ScalarId id) const {
  const ScalarNode& n = nodes_[id];
  std::string text;
  switch (n.kind) {
    case ScalarKind::literal:
      if (is_float(n.dtype)) return fmt::format("{}", std::bit_cast<double>(n.bits));
      return fmt::format("{}", static_cast<std::int64_t>(n.bits));
    case ScalarKind::coord:
      return fmt::format("i{}", n.index);
    case ScalarKind::dim:
      return n.dim.to_string();
    case ScalarKind::param:
      return fmt::format("p{}", n.index);
    case ScalarKind::reduced:
      return fmt::format("r{}", n.index);
    case ScalarKind::read:
      text = fmt::format("s{}", n.index);
      break;
    case ScalarKind::apply:
      text = info(n.fn).name;
      break;
    case ScalarKind::select:
      text = "select";
      break;
    case ScalarKind::cast:
      text = name_of(n.dtype);
      break;
    case ScalarKind::round:
      text = fmt::format("round_{}", name_of(n.dtype));
      break;
  }
  text += n.kind == ScalarKind::read ? "[" : "(";
  for (std::size_t i = 0; i < n.args.size(); ++i) text += (i ? ", " : "") + to_text(n.args[i]);
  return text + (n.kind == ScalarKind::read ? "]" : ")");
}

}  // namespace fuseline
