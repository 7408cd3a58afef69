// What is known of a value while a model is read: its numbers, or its elements as sizes.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "fuseline/graph.hpp"

namespace fuseline::onnx {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// Operands that decide shapes. Whatever follows from constants is computed by evaluate; sizes of
// inputs stay symbolic; an input's own value is used, and noted, when one was given. The elements
// of `open` inputs may become sizes (Dim::operand), so that one graph serves all their values.
class Known {
 public:
  Known(Graph& graph, const NamedTensors& values, std::set<std::string> open)
      : graph_(graph), values_(values), open_(std::move(open)) {}

  // The value where it depends on no input.
  std::optional<Tensor> constant(Value value);
  // Whether tensor() gives a value.
  bool knows(Value value) { return constant(value) || compute(value, true); }
  // The value, also where inputs with given values decide it. Error otherwise.
  Tensor tensor(Value value);
  std::vector<std::int64_t> integers(Value value);
  std::vector<double> numbers(Value value);
  // Elements of an integer list as sizes, row-major.
  Dims dims(Value value);
  // The same, with elements of open inputs as operands: of any value and sign.
  Dims open_dims(Value value);

  const std::set<std::string>& decided() const { return decided_; }

 private:
  std::optional<Tensor> compute(Value value, bool use_inputs);
  std::optional<Tensor> compute_node(Value value, bool use_inputs);
  std::optional<Tensor> of_input(const Node& node);
  std::optional<Dims> symbolic(Value value, bool open);
  std::optional<Dims> operands_of(const Node& node, const Dims& shape) const;
  std::optional<Dims> symbolic_elementwise(const Node& node, const Dims& shape, bool open);
  std::optional<Dims> symbolic_map(const Node& node, bool open);

  Graph& graph_;
  const NamedTensors& values_;
  std::set<std::string> open_;
  std::set<std::string> decided_;
  std::unordered_map<ValueId, std::optional<Tensor>> memo_[2];  // without and with inputs
};

}  // namespace fuseline::onnx
