// The op table at run time: for every operation its rules and its meaning.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "fuseline/graph.hpp"
#include "graph/scalar.hpp"

namespace fuseline {

enum class OpGroup : std::uint8_t { elementwise, structural, reduction, kernel };
enum class TypeRule : std::uint8_t { number, any, real, integer, logic, compare, classify, choose };

// Whether operands may have this type; of `choose` the second and third, the first is bool.
bool accepts(TypeRule rule, DType dtype);

// What a type and shape rule sees.
struct InferContext {
  std::string_view op;
  std::span<const ValueType> inputs;
  const Attributes& attributes;
};

// What a pull rule sees: it writes the scalar at `index` (i64 scalars, one an axis of the result)
// in terms of elements of the operands.
struct PullContext {
  ScalarDag& dag;
  const Graph& graph;
  const Node& node;
  std::function<ScalarId(int operand, std::vector<ScalarId> index)> read;

  const ValueType& operand(int i) const {
    return graph.type(node.inputs[static_cast<std::size_t>(i)]);
  }
  const ValueType& result() const { return graph.type(node.output); }
};

using InferRule = ValueType (*)(const InferContext&);
using PullRule = ScalarId (*)(PullContext&, std::span<const ScalarId> index);

// The axes that a reduction walks, and which of them it reduces; the others are the result's.
struct ReductionSpace {
  Dims dims;
  std::vector<bool> reduced;
};
using SpaceRule = ReductionSpace (*)(const Graph&, const Node&);

struct OpInfo {
  std::string_view name;
  std::string_view onnx;
  int since;
  std::string_view doc;
  OpGroup group;
  int least_operands;
  int most_operands;
  TypeRule rule;             // elementwise
  std::string_view formula;  // elementwise: the semantics as text
  InferRule infer;
  PullRule pull;    // of a contraction the term; nullptr for other reductions and kernels
  SpaceRule space;  // contractions
};

const OpInfo& info(OpCode op);
std::span<const OpInfo> op_table();
std::optional<OpCode> op_from_name(std::string_view name);

// How a reduction combines; arg_min and arg_max carry the index beside the value.
struct ReductionInfo {
  Intrinsic combine;  // add, mul, min or max
  bool with_index;    // the result is the index
};
ReductionInfo reduction_info(OpCode op);
// The combine function's neutral element in `dtype`.
Number identity_of(Intrinsic combine, DType dtype);
// The reduced axes, ascending and unique; all axes when the attribute is empty.
std::vector<int> reduced_axes(const Node& node, std::size_t rank);
// The space of a reduction or contraction, and the scalar that it combines at a place of it.
ReductionSpace reduction_space(const Graph& graph, const Node& node);
ScalarId reduction_term(PullContext& c, std::span<const ScalarId> index);
// The type in which a reduction of `dtype` accumulates: f32 for f16 and bf16.
DType accumulator_type(DType dtype);

// Broadcast of two sizes (numpy): equal, or one is the constant 1. Error names the operation.
Dim broadcast_dim(std::string_view op, const Dim& a, const Dim& b);

}  // namespace fuseline
