// The table of operators that can be read.
#pragma once

#include <span>
#include <string_view>

#include "onnx/context.hpp"

namespace fuseline::onnx {

// Adds nodes for one ONNX node and sets its results; throws Error for what is not supported.
using Convert = void (*)(Context&);

struct OperatorRow {
  std::string_view name;
  std::int64_t since;  // the opset version from which this converter is right
  Convert convert;
};

// The newest row of the operator for an opset of the domain ai.onnx; nullptr when there is none.
const OperatorRow* find_operator(std::string_view name, std::int64_t opset);

// One table a family; operators.cpp lists them.
std::span<const OperatorRow> elementwise_operators();
std::span<const OperatorRow> activation_operators();
std::span<const OperatorRow> type_operators();
std::span<const OperatorRow> shape_operators();
std::span<const OperatorRow> index_operators();
std::span<const OperatorRow> late_operators();
std::span<const OperatorRow> reduce_operators();
std::span<const OperatorRow> normalization_operators();
std::span<const OperatorRow> linear_operators();
std::span<const OperatorRow> pool_operators();
std::span<const OperatorRow> attention_operators();
std::span<const OperatorRow> recurrent_operators();
std::span<const OperatorRow> resize_operators();
std::span<const OperatorRow> sample_operators();
std::span<const OperatorRow> signal_operators();
std::span<const OperatorRow> text_operators();
std::span<const OperatorRow> control_operators();

}  // namespace fuseline::onnx
