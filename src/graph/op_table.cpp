// The rows of the op table, built from ops.def.
#include "graph/op_table.hpp"

#include <algorithm>
#include <limits>

#include "base/fail.hpp"
#include "graph/scalar_ops.hpp"
#include "graph/structural.hpp"

namespace fuseline {

bool accepts(TypeRule rule, DType dtype) {
  switch (rule) {
    case TypeRule::number:
      return !is_bool(dtype);
    case TypeRule::real:
    case TypeRule::classify:
      return is_float(dtype);
    case TypeRule::integer:
      return is_integer(dtype);
    case TypeRule::logic:
      return !is_float(dtype);
    default:
      return true;
  }
}

namespace {

const char* wanted(TypeRule rule) {
  switch (rule) {
    case TypeRule::number:
      return "numbers";
    case TypeRule::real:
    case TypeRule::classify:
      return "floating-point numbers";
    case TypeRule::integer:
      return "integers";
    case TypeRule::logic:
      return "bool or integers";
    default:
      return "any type";
  }
}

ValueType infer_elementwise(const InferContext& c, TypeRule rule) {
  ValueType result = c.inputs.back();
  std::size_t first = rule == TypeRule::choose ? 1 : 0;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const ValueType& in = c.inputs[i];
    if (i < first) {
      if (!is_bool(in.dtype))
        fail("{}: the condition is {}, bool is needed", c.op, name_of(in.dtype));
    } else if (in.dtype != result.dtype) {
      fail("{}: operands of types {} and {}; cast one of them", c.op,
           name_of(c.inputs[first].dtype), name_of(result.dtype));
    } else if (!accepts(rule, in.dtype)) {
      fail("{}: operand of type {}, it takes {}", c.op, name_of(in.dtype), wanted(rule));
    }
  }
  result.dims.clear();
  std::size_t rank = 0;
  for (const ValueType& in : c.inputs) rank = std::max(rank, in.dims.size());
  for (std::size_t axis = 0; axis < rank; ++axis) {
    Dim extent = 1;
    for (const ValueType& in : c.inputs) {
      std::size_t lead = rank - in.dims.size();
      if (axis >= lead) extent = broadcast_dim(c.op, extent, in.dims[axis - lead]);
    }
    result.dims.push_back(extent);
  }
  if (rule == TypeRule::compare || rule == TypeRule::classify) result.dtype = DType::bool_;
  return result;
}

// Coordinates of an operand that is broadcast to the result.
std::vector<ScalarId> operand_index(PullContext& c, int operand, std::span<const ScalarId> index) {
  const Dims& dims = c.operand(operand).dims;
  std::size_t lead = index.size() - dims.size();
  std::vector<ScalarId> own;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    bool repeated = dims[axis] == Dim(1);
    own.push_back(repeated ? c.dag.integer(DType::i64, 0) : index[axis + lead]);
  }
  return own;
}

Scalar read_operand(PullContext& c, int operand, std::span<const ScalarId> index) {
  // Rules name up to three operands; the ones that an operation lacks repeat its first.
  if (operand >= static_cast<int>(c.node.inputs.size())) operand = 0;
  return {c.dag, c.read(operand, operand_index(c, operand, index))};
}

ValueType infer_reduction(const InferContext& c) {
  const ValueType& in = c.inputs[0];
  Node node;
  node.attributes = c.attributes;
  std::vector<int> axes = reduced_axes(node, in.dims.size());
  auto op = op_from_name(c.op);
  ReductionInfo reduction = reduction_info(*op);
  if (reduction.with_index && axes.size() != 1)
    fail("{}: {} axes given, it takes exactly one", c.op, axes.size());
  if (is_bool(in.dtype)) fail("{}: operand of type bool; cast it or use count", c.op);
  bool keep = c.attributes.integer_or("keepdims", 0) != 0;
  ValueType result{reduction.with_index ? DType::i64 : in.dtype, {}};
  for (int axis = 0; axis < static_cast<int>(in.dims.size()); ++axis) {
    bool reduced = std::binary_search(axes.begin(), axes.end(), axis);
    if (!reduced)
      result.dims.push_back(in.dims[static_cast<std::size_t>(axis)]);
    else if (keep)
      result.dims.push_back(1);
  }
  return result;
}

using namespace scalar_ops;

#define FUSELINE_ELEMENTWISE(name, arity, rule, onnx, since, semantics, doc)    \
  ScalarId pull_##name(PullContext& context, std::span<const ScalarId> index) { \
    [[maybe_unused]] Scalar a = read_operand(context, 0, index);                \
    [[maybe_unused]] Scalar b = read_operand(context, 1, index);                \
    [[maybe_unused]] Scalar c = read_operand(context, 2, index);                \
    return (semantics).id();                                                    \
  }                                                                             \
  ValueType infer_##name(const InferContext& c) { return infer_elementwise(c, TypeRule::rule); }
#define FUSELINE_STRUCTURAL(name, least, most, onnx, since, doc)
#define FUSELINE_REDUCTION(name, onnx, since, doc)
#define FUSELINE_CONTRACTION(name, least, most, onnx, since, doc)
#define FUSELINE_KERNEL(name, least, most, onnx, since, doc)
#include "fuseline/ops.def"
#undef FUSELINE_ELEMENTWISE
#undef FUSELINE_STRUCTURAL
#undef FUSELINE_REDUCTION
#undef FUSELINE_CONTRACTION
#undef FUSELINE_KERNEL

constexpr OpInfo rows[] = {
#define FUSELINE_ELEMENTWISE(name, arity, rule, onnx, since, semantics, doc)     \
  {#name, onnx,           since,      doc,          OpGroup::elementwise, arity, \
   arity, TypeRule::rule, #semantics, infer_##name, pull_##name,          nullptr},
#define FUSELINE_STRUCTURAL(name, least, most, onnx, since, doc)          \
  {#name, onnx,          since, doc,          OpGroup::structural, least, \
   most,  TypeRule::any, "",    infer_##name, pull_##name,         nullptr},
#define FUSELINE_REDUCTION(name, onnx, since, doc)                                     \
  {#name,           onnx,    since,  doc, OpGroup::reduction, 1, 1, TypeRule::any, "", \
   infer_reduction, nullptr, nullptr},
#define FUSELINE_CONTRACTION(name, least, most, onnx, since, doc)        \
  {#name, onnx,          since, doc,          OpGroup::reduction, least, \
   most,  TypeRule::any, "",    infer_##name, pull_##name,        space_##name},
#define FUSELINE_KERNEL(name, least, most, onnx, since, doc)          \
  {#name, onnx,          since, doc,          OpGroup::kernel, least, \
   most,  TypeRule::any, "",    infer_##name, nullptr,         nullptr},
#include "fuseline/ops.def"
#undef FUSELINE_ELEMENTWISE
#undef FUSELINE_STRUCTURAL
#undef FUSELINE_REDUCTION
#undef FUSELINE_CONTRACTION
#undef FUSELINE_KERNEL
};

}  // namespace

const OpInfo& info(OpCode op) { return rows[static_cast<std::size_t>(op)]; }
std::span<const OpInfo> op_table() { return rows; }
std::string_view name_of(OpCode op) { return info(op).name; }

std::optional<OpCode> op_from_name(std::string_view name) {
  for (std::size_t i = 0; i < std::size(rows); ++i)
    if (rows[i].name == name) return static_cast<OpCode>(i);
  return std::nullopt;
}

ReductionInfo reduction_info(OpCode op) {
  switch (op) {
    case OpCode::reduce_sum:
    case OpCode::matmul:
    case OpCode::conv:
    case OpCode::conv_transpose:
      return {Intrinsic::add, false};
    case OpCode::reduce_prod:
      return {Intrinsic::mul, false};
    case OpCode::reduce_min:
      return {Intrinsic::min, false};
    case OpCode::reduce_max:
      return {Intrinsic::max, false};
    case OpCode::arg_min:
      return {Intrinsic::min, true};
    case OpCode::arg_max:
      return {Intrinsic::max, true};
    default:
      fail_internal("not a reduction");
  }
}

Number identity_of(Intrinsic combine, DType dtype) {
  Number n{.bits = 0};
  bool real = is_float(dtype);
  double infinity = std::numeric_limits<double>::infinity();
  switch (combine) {
    case Intrinsic::add:
      break;
    case Intrinsic::mul:
      if (real)
        n.d = 1;
      else
        n.i = 1;
      break;
    case Intrinsic::min:
      if (real)
        n.d = infinity;
      else if (dtype == DType::u64)
        n.u = ~std::uint64_t{0};
      else
        n.i = full_range(dtype).high;
      break;
    case Intrinsic::max:
      if (real)
        n.d = -infinity;
      else
        n.i = full_range(dtype).low;
      break;
    default:
      fail_internal("not a combining intrinsic");
  }
  return n;
}

std::vector<int> reduced_axes(const Node& node, std::size_t rank) {
  std::vector<int> axes;
  for (std::int64_t axis : node.attributes.integers("axes")) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank))
      fail("reduction: axis {} of a tensor with {} axes", axis, rank);
    axes.push_back(static_cast<int>(axis));
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    fail("reduction: an axis is given twice");
  if (axes.empty())
    for (std::size_t axis = 0; axis < rank; ++axis) axes.push_back(static_cast<int>(axis));
  return axes;
}

ReductionSpace reduction_space(const Graph& graph, const Node& node) {
  if (SpaceRule rule = info(node.op).space) return rule(graph, node);
  ReductionSpace space{graph.type(node.inputs[0]).dims, {}};
  space.reduced.assign(space.dims.size(), false);
  for (int axis : reduced_axes(node, space.dims.size()))
    space.reduced[static_cast<std::size_t>(axis)] = true;
  return space;
}

ScalarId reduction_term(PullContext& c, std::span<const ScalarId> index) {
  if (PullRule rule = info(c.node.op).pull) return rule(c, index);
  return c.read(0, {index.begin(), index.end()});
}

DType accumulator_type(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

Dim broadcast_dim(std::string_view op, const Dim& a, const Dim& b) {
  if (a == b || b == Dim(1)) return a;
  if (a == Dim(1)) return b;
  fail("{}: sizes {} and {} cannot be broadcast; they must be equal or one of them 1", op,
       a.to_string(), b.to_string());
}

}  // namespace fuseline
