// Stepping through a scalar DAG, block by block.
#include "graph/block_interpreter.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace fuseline {

BlockInterpreter::BlockInterpreter(const ScalarDag& dag, ScalarId root, bool round_each,
                                   const DimBindings& dims, Read read)
    : dag_(dag), dims_(dims), read_(std::move(read)), root_(root), values_(dag.size() * capacity) {
  for (const ScalarStep& step : scalar_steps(dag, std::span(&root, 1), round_each))
    (step.uniform ? uniform_ : varying_).push_back(step);
}

void BlockInterpreter::read(const ScalarStep& s, std::size_t count) {
  const std::vector<ScalarId>& args = dag_[s.id].args;
  std::vector<std::int64_t> indices(args.size());
  Number* out = lanes(s.id);
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t axis = 0; axis < args.size(); ++axis) indices[axis] = lanes(args[axis])[k].i;
    out[k] = read_(s.index, indices);
  }
}

void BlockInterpreter::step(const ScalarStep& s, std::span<const std::int64_t> coords,
                            std::size_t count) {
  Number* out = lanes(s.id);
  const Number *a = lanes(s.arg[0]), *b = lanes(s.arg[1]), *c = lanes(s.arg[2]);
  auto fill = [&](Number n) { std::fill_n(out, count, n); };
  auto each = [&](auto&& one) {
    for (std::size_t k = 0; k < count; ++k) out[k] = one(k);
  };
  switch (s.kind) {
    case ScalarKind::literal:
      return fill({.bits = dag_[s.id].bits});
    case ScalarKind::dim:
      return fill({.i = dag_[s.id].dim.evaluate(dims_)});
    case ScalarKind::coord: {
      const std::int64_t* from = coords.data() + static_cast<std::size_t>(s.index) * capacity;
      return each([&](std::size_t k) { return Number{.i = from[k]}; });
    }
    case ScalarKind::read:
      return read(s, count);
    case ScalarKind::select:
      return each([&](std::size_t k) { return a[k].u ? b[k] : c[k]; });
    case ScalarKind::cast:
      return each([&](std::size_t k) { return convert(a[k], s.from, s.dtype); });
    case ScalarKind::round:
      return each([&](std::size_t k) { return round_to(a[k], s.dtype); });
    case ScalarKind::apply:
      apply_intrinsic(s.fn, s.from, Lanes{a, b, out, count});
      if (s.rounds) each([&](std::size_t k) { return round_to(out[k], s.dtype); });
      return;
    default:
      fail_internal("a scalar that no single node has");
  }
}

std::span<const Number> BlockInterpreter::run(std::span<const std::int64_t> coords,
                                              std::size_t count) {
  require(count <= capacity, "a block of too many coordinates");
  if (!started_)
    for (const ScalarStep& s : uniform_) step(s, coords, capacity);
  started_ = true;
  for (const ScalarStep& s : varying_) step(s, coords, count);
  return {lanes(root_), count};
}

}  // namespace fuseline
