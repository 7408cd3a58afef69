// Graph: an SSA DAG of operations on tensors with symbolic sizes.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fuseline/dim.hpp"
#include "fuseline/tensor.hpp"

namespace fuseline {

enum class OpCode : std::uint16_t {
#define FUSELINE_ELEMENTWISE(name, arity, rule, onnx, since, semantics, doc) name,
#define FUSELINE_STRUCTURAL(name, least, most, onnx, since, doc) name,
#define FUSELINE_REDUCTION(name, onnx, since, doc) name,
#define FUSELINE_CONTRACTION(name, least, most, onnx, since, doc) name,
#include "fuseline/ops.def"
#undef FUSELINE_ELEMENTWISE
#undef FUSELINE_STRUCTURAL
#undef FUSELINE_REDUCTION
#undef FUSELINE_CONTRACTION
};

using ValueId = std::uint32_t;
using NodeId = std::uint32_t;

using Attribute =
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, Dims, DType, Tensor>;

// Named attributes of a node, in the order in which they were given.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<std::string, Attribute>> items) : items_(items) {}
  const Attribute* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  void set(std::string name, Attribute value);
  // Typed access; Error naming the attribute when it is missing or of another type.
  std::int64_t integer(std::string_view name) const;
  std::int64_t integer_or(std::string_view name, std::int64_t otherwise) const;
  const std::string& text(std::string_view name) const;
  const std::vector<std::int64_t>& integers(std::string_view name) const;
  const Dims& dims(std::string_view name) const;
  DType dtype(std::string_view name) const;
  const Tensor& tensor(std::string_view name) const;
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<std::pair<std::string, Attribute>> items_;
};

struct ValueType {
  DType dtype = DType::f32;
  Dims dims;
};

struct Node {
  OpCode op = OpCode::input;
  std::vector<ValueId> inputs;
  Attributes attributes;
  ValueId output = 0;
  std::string origin;  // the model's node that it comes from, by name; empty without one
};

struct NamedValue {
  std::string name;
  ValueId value = 0;
};

class Graph;

// A handle of one value of a graph. It stays valid as long as the graph; operators on handles add
// nodes to that graph (see ops.hpp).
class Value {
 public:
  Value(Graph& graph, ValueId id) : graph_(&graph), id_(id) {}
  Graph& graph() const { return *graph_; }
  ValueId id() const { return id_; }
  DType dtype() const;
  const Dims& dims() const;

 private:
  Graph* graph_;
  ValueId id_;
};

class Graph {
 public:
  // Names of inputs and outputs are unique, not empty and made of letters, digits, '_', '.', ':',
  // '/' and '-'.
  Value input(std::string name, DType dtype, Dims dims);
  // Copies the tensor.
  Value constant(const Tensor& tensor);
  // A scalar of the given type; integers must be in its range.
  Value constant(DType dtype, double value);
  Value constant(DType dtype, std::int64_t value);
  void output(std::string name, Value value);

  // Any operation of the table; types and shapes are checked and inferred.
  Value apply(OpCode op, const std::vector<Value>& inputs, Attributes attributes = {});

  // Nodes added from now on come from this node of a model. A name for people and options: it is
  // part of neither the meaning nor the text.
  void set_origin(std::string name) { origin_ = std::move(name); }
  const std::string& origin() const { return origin_; }
  void set_origin_of(ValueId value, std::string name) {
    nodes_[producer_[value]].origin = std::move(name);
  }

  const std::vector<Node>& nodes() const { return nodes_; }  // operands come first
  const Node& node_of(ValueId value) const { return nodes_[producer_[value]]; }
  const ValueType& type(ValueId value) const { return types_[value]; }
  std::size_t value_count() const { return types_.size(); }
  const std::vector<NamedValue>& inputs() const { return inputs_; }
  const std::vector<NamedValue>& outputs() const { return outputs_; }
  Value value(ValueId id) { return Value(*this, id); }

  // The interchange text (docs/graph-text.md): first line "fuseline-graph 1". Constants above 64
  // bytes are written as inputs named const_N and appended to *large_constants under these names;
  // without a list their numbers are not kept. from_text reads what to_text wrote, and refuses
  // newer versions by name.
  std::string to_text(std::vector<std::pair<std::string, Tensor>>* large_constants = nullptr) const;
  static Graph from_text(std::string_view text);

 private:
  std::vector<Node> nodes_;
  std::vector<NodeId> producer_;  // by value
  std::deque<ValueType> types_;   // by value; references outlive later additions
  std::vector<NamedValue> inputs_;
  std::vector<NamedValue> outputs_;
  std::string origin_;
};

// Throws Error naming the node and the rule when the graph breaks one (operands before users,
// types and shapes as the table infers them, named outputs).
void verify(const Graph& graph);

// The reference: every operation by plain loops over its definition, integers exactly, floats in
// double rounded to the element type at every value. `inputs` by name; sizes are taken from them.
// Returns the outputs in order. Slow by design.
std::vector<Tensor> evaluate(const Graph& graph,
                             const std::vector<std::pair<std::string, Tensor>>& inputs);

// Name of an operation as it stands in graph texts.
std::string_view name_of(OpCode op);

}  // namespace fuseline
