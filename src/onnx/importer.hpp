// A model's graphs, functions and nodes become one Graph.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fuseline/onnx.hpp"
#include "onnx/context.hpp"
#include "onnx/proto.hpp"
#include "onnx/tensor_data.hpp"

namespace fuseline::onnx {

constexpr std::int64_t oldest_opset = 1;
constexpr std::int64_t newest_opset = 28;

class Importer {
 public:
  // `open`: inputs whose elements may become sizes, see Known.
  Importer(const ModelProto& model, TensorReader tensors, const NamedTensors& values,
           std::set<std::string> open)
      : model_(model), tensors_(std::move(tensors)), known_(graph_, values, std::move(open)) {}

  Graph run(const std::vector<OnnxValue>& inputs, const std::vector<std::string>& outputs);
  const std::set<std::string>& decided() const { return known_.decided(); }

 private:
  using Attributes = std::map<std::string_view, const AttributeProto*>;

  // Names that a graph or function body sees.
  struct Scope {
    const Scope* outer = nullptr;  // of the graph around a graph inside an attribute
    const Opsets& opsets;
    const Attributes* attributes = nullptr;  // of the call, in a function body
    int depth = 0;
    std::map<std::string_view, Operand> values;

    const Operand* find(std::string_view name) const;
  };

  void read_initializers(const GraphProto& graph, Scope& scope, bool keep_inputs);
  void read_nodes(const std::vector<NodeProto>& nodes, Scope& scope);
  void read_node(const NodeProto& node, Scope& scope);
  void convert(const NodeProto& node, Scope& scope);
  void call(const FunctionProto& function, const NodeProto& node, Scope& scope);
  std::vector<Operand> run_graph(const GraphProto& graph, const std::vector<Operand>& inputs,
                                 const Scope& outer);
  const Operand& value_of(std::string_view name, const Scope& scope) const;
  static const AttributeProto* attribute(const NodeProto& node, const Scope& scope,
                                         std::string_view name);

  const ModelProto& model_;
  TensorReader tensors_;
  Graph graph_;
  Known known_;
};

// The function of the model that a node calls; nullptr when it is an operator.
const FunctionProto* find_function(const ModelProto& model, const NodeProto& node);
std::int64_t opset_of(const Opsets& opsets, std::string_view domain);
// "node_7 (Conv)": how messages name a node.
std::string node_name(const NodeProto& node);

}  // namespace fuseline::onnx
