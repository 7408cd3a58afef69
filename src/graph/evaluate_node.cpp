// Pull programs and reduction loops of single nodes.
#include "graph/evaluate_node.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "graph/block_interpreter.hpp"
#include "graph/check_sizes.hpp"
#include "graph/evaluate_kernel.hpp"
#include "graph/evaluate_source.hpp"

namespace fuseline {

BoundedInterpreter::BoundedInterpreter(const ScalarDag& dag, ScalarId root, bool round_each,
                                       const DimBindings& dims, Reader<Bounded> read)
    : dag_(dag),
      root_(root),
      round_each_(round_each),
      dims_(dims),
      read_(std::move(read)),
      values_(dag.size(), Bounded::exactly({.bits = 0})) {
  for (const ScalarStep& step : scalar_steps(dag, std::span(&root, 1), round_each))
    (step.uniform ? uniform_ : varying_).push_back(step);
}

Bounded BoundedInterpreter::read(const ScalarStep& s) {
  indices_.clear();
  bool certain = true;
  for (ScalarId arg : dag_[s.id].args) {
    certain = certain && values_[arg].is_exact();
    indices_.push_back(values_[arg].value.i);
  }
  Bounded element = read_(s.index, indices_);
  return certain ? element : anything(element.value, s.dtype);
}

void BoundedInterpreter::step(const ScalarStep& s, std::span<const std::int64_t> coords) {
  Bounded& value = values_[s.id];
  switch (s.kind) {
    case ScalarKind::literal:
      value = Bounded::exactly({.bits = dag_[s.id].bits});
      break;
    case ScalarKind::coord:
      value = Bounded::exactly({.i = coords[static_cast<std::size_t>(s.index)]});
      break;
    case ScalarKind::dim:
      value = Bounded::exactly({.i = dag_[s.id].dim.evaluate(dims_)});
      break;
    case ScalarKind::read:
      value = read(s);
      break;
    case ScalarKind::select:
      value = select_bounded(values_[s.arg[0]], values_[s.arg[1]], values_[s.arg[2]], s.dtype);
      break;
    case ScalarKind::cast:
      value = convert_bounded(values_[s.arg[0]], s.from, s.dtype);
      break;
    case ScalarKind::round:
      value = finish_bounded(values_[s.arg[0]], s.dtype);
      break;
    case ScalarKind::apply: {
      Bounded args[2] = {values_[s.arg[0]], values_[s.arg[1]]};
      auto arity = static_cast<std::size_t>(info(s.fn).arity);
      value = apply_bounded(s.fn, s.from, std::span<const Bounded>(args, arity), round_each_);
      break;
    }
    default:
      fail_internal("a scalar that no single node has");
  }
}

Bounded BoundedInterpreter::run(std::span<const std::int64_t> coords) {
  if (!started_)
    for (const ScalarStep& s : uniform_) step(s, coords);
  started_ = true;
  for (const ScalarStep& s : varying_) step(s, coords);
  return values_[root_];
}

namespace {

using Emit = std::function<void(const Number&)>;

// The interpreter of either kind of element, behind one interface.
template <class Element>
class Interpreter;

template <>
class Interpreter<Number> {
 public:
  Interpreter(const ScalarDag& dag, ScalarId root, bool round_each, const DimBindings& dims,
              Reader<Number> read)
      : inner_(dag, root, round_each, dims, std::move(read)), dtype_(dag[root].dtype) {}

  Number at(std::span<const std::int64_t> index) { return round_to(unrounded_at(index), dtype_); }

  Number unrounded_at(std::span<const std::int64_t> index) {
    coords_.resize(index.size() * BlockInterpreter::capacity);
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      coords_[axis * BlockInterpreter::capacity] = index[axis];
    return inner_.run(coords_, 1)[0];
  }

  void run(const Shape& shape, const Emit& emit) {
    coords_.resize(shape.size() * BlockInterpreter::capacity);
    Shape index(shape.size(), 0);
    for (std::int64_t left = element_count(shape); left > 0;) {
      std::size_t count = 0;
      for (; count < BlockInterpreter::capacity && left > 0; ++count, --left) {
        for (std::size_t axis = 0; axis < index.size(); ++axis)
          coords_[axis * BlockInterpreter::capacity + count] = index[axis];
        advance(index, shape);
      }
      for (Number n : inner_.run(coords_, count)) emit(round_to(n, dtype_));
    }
  }

 private:
  BlockInterpreter inner_;
  std::vector<std::int64_t> coords_;
  DType dtype_;
};

template <>
class Interpreter<Bounded> {
 public:
  Interpreter(const ScalarDag& dag, ScalarId root, bool round_each, const DimBindings& dims,
              Reader<Bounded> read)
      : inner_(dag, root, round_each, dims, std::move(read)), dtype_(dag[root].dtype) {}

  Bounded at(std::span<const std::int64_t> index) {
    return finish_bounded(inner_.run(index), dtype_);
  }

  Bounded unrounded_at(std::span<const std::int64_t> index) { return inner_.run(index); }

  void run(const Shape& shape, const std::function<void(const Bounded&)>& emit) {
    Shape index(shape.size(), 0);
    for (std::int64_t left = element_count(shape); left > 0; --left, advance(index, shape))
      emit(at(index));
  }

 private:
  BoundedInterpreter inner_;
  DType dtype_;
};

ScalarId pull_at(ScalarDag& dag, const Graph& graph, const Node& node, const Dims& dims,
                 PullRule rule) {
  std::vector<ScalarId> index;
  for (std::size_t axis = 0; axis < dims.size(); ++axis)
    index.push_back(dag.coord(static_cast<int>(axis), dims[axis]));
  auto read = [&](int operand, std::vector<ScalarId> at) {
    return dag.read(operand, graph.type(node.inputs[static_cast<std::size_t>(operand)]).dtype,
                    std::move(at));
  };
  PullContext context{dag, graph, node, read};
  return rule(context, index);
}

ScalarId pull_root(ScalarDag& dag, const Graph& graph, const Node& node) {
  return pull_at(dag, graph, node, graph.type(node.output).dims, info(node.op).pull);
}

ScalarId pull_term(ScalarDag& dag, const Graph& graph, const Node& node, const Dims& space) {
  return pull_at(dag, graph, node, space, reduction_term);
}

// Float results that are not rounded by the definition itself.
bool has_float_arithmetic(const ScalarDag& dag, ScalarId root) {
  for (const ScalarStep& s : scalar_steps(dag, std::span(&root, 1), false)) {
    bool arithmetic = s.kind == ScalarKind::apply && is_float(s.dtype);
    bool choice = s.fn == Intrinsic::min || s.fn == Intrinsic::max || s.fn == Intrinsic::neg ||
                  s.fn == Intrinsic::abs;
    if (arithmetic && !choice) return true;
  }
  return false;
}

}  // namespace

template <class Element>
struct NodeProgram<Element>::Pull {
  Pull(const Graph& graph, const Node& node, const DimBindings& bindings, Reader<Element> read)
      : strict(info(node.op).group == OpGroup::structural),
        root(pull_root(dag, graph, node)),
        interpreter(dag, root, strict, bindings, std::move(read)) {}

  // Structural operations say themselves where their f32 arithmetic rounds.
  bool strict;
  ScalarDag dag;
  ScalarId root;
  Interpreter<Element> interpreter;
};

template <class Element>
struct NodeProgram<Element>::Reduce {
  Reduce(const Graph& graph, const Node& node, const DimBindings& bindings, Reader<Element> reader)
      : op(node.op), dtype(graph.type(node.inputs[0]).dtype), read(std::move(reader)) {
    ReductionSpace space = reduction_space(graph, node);
    extents = shape_of(space.dims, bindings);
    bool keep = node.attributes.integer_or("keepdims", 0) != 0;
    int next = 0;
    for (int axis = 0; axis < static_cast<int>(extents.size()); ++axis) {
      bool reduced = space.reduced[static_cast<std::size_t>(axis)];
      if (reduced) axes.push_back(axis);
      result_axis.push_back(reduced ? -1 : next);
      next += !reduced || keep;
    }
    if (!info(node.op).pull) return;
    term_root = pull_term(term_dag, graph, node, space.dims);
    term = std::make_unique<Interpreter<Element>>(term_dag, term_root, false, bindings, read);
  }

  Element element(const Shape& own) { return term ? term->unrounded_at(own) : read(0, own); }

  Element at(std::span<const std::int64_t> index) {
    using Accumulator =
        std::conditional_t<std::is_same_v<Element, Number>, Reduction, BoundedReduction>;
    Accumulator accumulator(op, dtype);
    Shape own(extents.size(), 0);
    bool empty = false;
    for (std::size_t axis = 0; axis < own.size(); ++axis) {
      if (result_axis[axis] >= 0)
        own[axis] = index[static_cast<std::size_t>(result_axis[axis])];
      else
        empty = empty || extents[axis] == 0;
    }
    while (!empty) {
      accumulator.add(element(own));
      empty = !advance(own);
    }
    return accumulator.result();
  }

  // The next index of the reduced space; false after the last one.
  bool advance(Shape& own) const {
    for (std::size_t k = axes.size(); k-- > 0;) {
      auto axis = static_cast<std::size_t>(axes[k]);
      if (++own[axis] < extents[axis]) return true;
      own[axis] = 0;
    }
    return false;
  }

  OpCode op;
  DType dtype;
  Reader<Element> read;
  Shape extents;
  std::vector<int> axes;
  std::vector<int> result_axis;  // of every operand axis, -1 where it is reduced
  ScalarDag term_dag;            // of a contraction
  ScalarId term_root = 0;
  std::unique_ptr<Interpreter<Element>> term;
};

template <class Element>
struct NodeProgram<Element>::Whole {
  Whole(const Graph& g, const Node& n, const DimBindings& b, Reader<Element> reader)
      : graph(g), node(n), bindings(b), read(std::move(reader)) {}

  const std::vector<Element>& elements() {
    if (!ready) known = compute_kernel<Element>(graph, node, bindings, read);
    ready = true;
    return known;
  }

  const Graph& graph;
  const Node& node;
  const DimBindings& bindings;
  Reader<Element> read;
  std::vector<Element> known;
  bool ready = false;
};

template <class Element>
NodeProgram<Element>::NodeProgram(const Graph& graph, const Node& node, const DimBindings& bindings,
                                  Reader<Element> read) {
  if (info(node.op).group == OpGroup::reduction)
    reduce_ = std::make_unique<Reduce>(graph, node, bindings, std::move(read));
  else if (info(node.op).group == OpGroup::kernel)
    whole_ = std::make_unique<Whole>(graph, node, bindings, std::move(read));
  else
    pull_ = std::make_unique<Pull>(graph, node, bindings, std::move(read));
}

template <class Element>
NodeProgram<Element>::~NodeProgram() = default;
template <class Element>
NodeProgram<Element>::NodeProgram(NodeProgram&&) noexcept = default;

template <class Element>
Element NodeProgram<Element>::at(std::span<const std::int64_t> index) {
  if (pull_) return pull_->interpreter.at(index);
  if (reduce_) return reduce_->at(index);
  Shape shape = shape_of(whole_->graph.type(whole_->node.output).dims, whole_->bindings);
  std::int64_t position = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    position = position * shape[axis] + index[axis];
  return whole_->elements()[static_cast<std::size_t>(position)];
}

template <class Element>
void NodeProgram<Element>::run(const Shape& shape,
                               const std::function<void(const Element&)>& emit) {
  if (pull_) return pull_->interpreter.run(shape, emit);
  if (whole_) {
    for (const Element& element : whole_->elements()) emit(element);
    return;
  }
  Shape index(shape.size(), 0);
  for (std::int64_t left = element_count(shape); left > 0; --left, fuseline::advance(index, shape))
    emit(reduce_->at(index));
}

template <class Element>
bool NodeProgram<Element>::keeps_exactness() const {
  if (pull_) return pull_->strict || !has_float_arithmetic(pull_->dag, pull_->root);
  if (whole_) return kernel_keeps_exactness(whole_->graph, whole_->node);
  Intrinsic combine = reduction_info(reduce_->op).combine;
  return !is_float(reduce_->dtype) || combine == Intrinsic::min || combine == Intrinsic::max;
}

template class NodeProgram<Number>;
template class NodeProgram<Bounded>;

}  // namespace fuseline
