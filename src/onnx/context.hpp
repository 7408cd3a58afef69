// What a converter sees of a node: operands, attributes, the graph that it adds to.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuseline/ops.hpp"
#include "onnx/element_type.hpp"
#include "onnx/known.hpp"
#include "onnx/proto.hpp"

namespace fuseline::onnx {

// A value and its type in the model, which for 8-bit floats is not how it is held.
struct Operand {
  Value value;
  int type;
};

class Context {
 public:
  // Reads a graph inside an attribute: its outputs, given values of its inputs.
  using RunGraph =
      std::function<std::vector<Operand>(const GraphProto&, const std::vector<Operand>&)>;
  using ReadTensor = std::function<Tensor(const TensorProto&)>;
  using FindAttribute = std::function<const AttributeProto*(std::string_view)>;

  Graph& graph;
  Known& known;
  const NodeProto& node;
  std::int64_t opset = 0;
  FindAttribute find;
  ReadTensor read_tensor;
  RunGraph run_graph;
  std::vector<std::optional<Operand>> operands;
  std::vector<std::optional<Operand>> results;

  // ---- operands
  std::size_t count() const { return operands.size(); }
  bool has(std::size_t i) const { return i < operands.size() && operands[i]; }
  Value in(std::size_t i) const { return operand(i).value; }
  int type(std::size_t i) const { return operand(i).type; }
  const Operand& operand(std::size_t i) const;
  std::size_t rank(std::size_t i) const { return in(i).dims().size(); }
  std::vector<std::int64_t> integers(std::size_t i) { return known.integers(in(i)); }
  Dims dims(std::size_t i) { return known.dims(in(i)); }
  Dims open_dims(std::size_t i) { return known.open_dims(in(i)); }

  // ---- attributes
  bool has_attribute(std::string_view name) const { return find(name) != nullptr; }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  std::int64_t integer(std::string_view name) const;
  double real(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  // Whether the text attribute is one of `choices`; Error otherwise.
  std::string choice(std::string_view name, std::string_view otherwise,
                     std::initializer_list<std::string_view> choices) const;
  std::vector<std::int64_t> integer_list(std::string_view name) const;  // empty without one
  std::vector<double> real_list(std::string_view name) const;
  std::vector<std::string> text_list(std::string_view name) const;
  const GraphProto& graph_attribute(std::string_view name) const;
  Tensor tensor_attribute(std::string_view name) const;

  // ---- results
  bool wants(std::size_t i) const { return i < node.outputs.size() && !node.outputs[i].empty(); }
  void out(std::size_t i, Value value) { out(i, value, element_type_of(value.dtype())); }
  void out(std::size_t i, Value value, int type);
  void out(Value value) { out(0, value); }
  // The result has the type of operand `like`, which matters for 8-bit floats.
  void out_like(Value value, std::size_t like = 0) { out(0, value, type(like)); }

 private:
  const AttributeProto* typed(std::string_view name, int type, const char* what) const;
};

// ---- helpers of the converters

// A number as a scalar constant of `like`'s type.
Value number(const Value& like, double value);
Value number(Graph& graph, DType dtype, double value);
// A list as a constant.
Value integer_constant(Graph& graph, const std::vector<std::int64_t>& values, Shape shape);
// Sizes as an i64 list.
Value dims_value(Graph& graph, const Dims& dims);
std::size_t absolute_axis(std::int64_t axis, std::size_t rank);
std::vector<std::int64_t> absolute_axes(std::vector<std::int64_t> axes, std::size_t rank);
// Axes of size 1 put in, at places counted in the result.
Value unsqueeze(const Value& x, std::vector<std::int64_t> axes);
// Axes taken away, whatever their size says.
Value squeeze(const Value& x, const std::vector<std::int64_t>& axes);
// numpy broadcasting of two shapes.
Dims broadcast_dims(const Dims& a, const Dims& b);
Value broadcast_both(const Value& x, const Dims& shape);  // x's shape and `shape` broadcast
// Dims[first, last) multiplied.
Dim product(const Dims& dims, std::size_t first, std::size_t last);
// A float type to compute in: f32 for halves, the type itself otherwise.
DType wide_type(DType dtype);
Dims replaced(Dims dims, std::size_t axis, Dim size);
// Elements [start, start + size) of one axis.
Value part(const Value& x, std::size_t axis, const Dim& start, const Dim& size);

}  // namespace fuseline::onnx
