// Stepping through a scalar DAG, coordinate by coordinate.
#include "graph/scalar.hpp"

namespace fuseline {

std::vector<ScalarStep> scalar_steps(const ScalarDag& dag, std::span<const ScalarId> roots,
                                     bool round_each) {
  std::vector<bool> needed(dag.size());
  for (ScalarId root : roots) needed[root] = true;
  for (ScalarId id = dag.size(); id-- > 0;)
    if (needed[id])
      for (ScalarId arg : dag[id].args) needed[arg] = true;
  std::vector<ScalarStep> steps;
  for (ScalarId id = 0; id < dag.size(); ++id) {
    if (!needed[id]) continue;
    const ScalarNode& n = dag[id];
    ScalarStep step{id, n.kind, n.fn, n.dtype, n.dtype, n.index, {}, false, dag.is_uniform(id)};
    if (!n.args.empty()) step.from = dag[n.args[0]].dtype;
    for (std::size_t i = 0; i < n.args.size() && i < 3; ++i) step.arg[i] = n.args[i];
    step.rounds = round_each && n.kind == ScalarKind::apply && is_float(n.dtype);
    steps.push_back(step);
  }
  return steps;
}

ScalarInterpreter::ScalarInterpreter(const ScalarDag& dag, std::vector<ScalarId> roots,
                                     bool round_each)
    : dag_(dag), roots_(std::move(roots)), values_(dag.size()), results_(roots_.size()) {
  for (const ScalarStep& step : scalar_steps(dag, roots_, round_each))
    (step.uniform ? uniform_ : varying_).push_back(step);
}

void ScalarInterpreter::step(const ScalarStep& s, const ScalarLeaves& leaves) {
  Number& value = values_[s.id];
  switch (s.kind) {
    case ScalarKind::literal:
      value.bits = dag_[s.id].bits;
      break;
    case ScalarKind::coord:
      value.i = leaves.coords[static_cast<std::size_t>(s.index)];
      break;
    case ScalarKind::dim:
      value.i = dag_[s.id].dim.evaluate(*leaves.dims);
      break;
    case ScalarKind::param:
      value = leaves.param(s.index);
      break;
    case ScalarKind::reduced:
      value = leaves.reduced(s.index);
      break;
    case ScalarKind::read:
      indices_.clear();
      for (ScalarId arg : dag_[s.id].args) indices_.push_back(values_[arg].i);
      value = leaves.read(s.index, indices_);
      break;
    case ScalarKind::select:
      value = values_[s.arg[0]].u ? values_[s.arg[1]] : values_[s.arg[2]];
      break;
    case ScalarKind::cast:
      value = convert(values_[s.arg[0]], s.from, s.dtype);
      break;
    case ScalarKind::round:
      value = round_to(values_[s.arg[0]], s.dtype);
      break;
    case ScalarKind::apply: {
      Number args[2] = {values_[s.arg[0]], values_[s.arg[1]]};
      std::size_t arity = static_cast<std::size_t>(info(s.fn).arity);
      value = apply_intrinsic(s.fn, s.from, std::span<const Number>(args, arity));
      if (s.rounds) value = round_to(value, s.dtype);
      break;
    }
  }
}

std::span<const Number> ScalarInterpreter::run(const ScalarLeaves& leaves) {
  if (!started_)
    for (const ScalarStep& s : uniform_) step(s, leaves);
  started_ = true;
  for (const ScalarStep& s : varying_) step(s, leaves);
  for (std::size_t i = 0; i < roots_.size(); ++i) results_[i] = values_[roots_[i]];
  return results_;
}

}  // namespace fuseline
