// Rules of structural operations, contractions and kernels: infer_NAME gives the result's type,
// pull_NAME its elements, of a contraction the terms.
#pragma once

#include "graph/op_table.hpp"

namespace fuseline {

#define FUSELINE_ELEMENTWISE(name, arity, rule, onnx, since, semantics, doc)
#define FUSELINE_STRUCTURAL(name, least, most, onnx, since, doc) \
  ValueType infer_##name(const InferContext& c);                 \
  ScalarId pull_##name(PullContext& c, std::span<const ScalarId> index);
#define FUSELINE_REDUCTION(name, onnx, since, doc)
#define FUSELINE_KERNEL(name, least, most, onnx, since, doc) \
  ValueType infer_##name(const InferContext& c);
#define FUSELINE_CONTRACTION(name, least, most, onnx, since, doc)    \
  ValueType infer_##name(const InferContext& c);                     \
  ReductionSpace space_##name(const Graph& graph, const Node& node); \
  ScalarId pull_##name(PullContext& c, std::span<const ScalarId> index);
#include "fuseline/ops.def"
#undef FUSELINE_ELEMENTWISE
#undef FUSELINE_STRUCTURAL
#undef FUSELINE_REDUCTION
#undef FUSELINE_CONTRACTION
#undef FUSELINE_KERNEL

}  // namespace fuseline
