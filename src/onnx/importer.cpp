// A model's graphs, functions and nodes become one Graph.
#include "onnx/importer.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/fail.hpp"
#include "onnx/operators.hpp"

namespace fuseline::onnx {
namespace {

constexpr int max_depth = 64;  // of graphs and calls inside each other

}  // namespace

const FunctionProto* find_function(const ModelProto& model, const NodeProto& node) {
  for (const FunctionProto& f : model.functions)
    if (f.name == node.op_type && f.domain == node.domain && f.overload == node.overload) return &f;
  return nullptr;
}

std::int64_t opset_of(const Opsets& opsets, std::string_view domain) {
  auto found = opsets.find(domain);
  return found == opsets.end() ? 0 : found->second;
}

std::string node_name(const NodeProto& node) {
  std::string name(node.name);
  if (name.empty() && !node.outputs.empty()) name = fmt::format("the node of {}", node.outputs[0]);
  std::string domain = node.domain.empty() ? "" : std::string(node.domain) + ".";
  return fmt::format("{} ({}{})", name, domain, node.op_type);
}

namespace {

// What is added while this lives comes from the node; from both where one is inside the other.
class Origin {
 public:
  Origin(Graph& graph, const NodeProto& node) : graph_(graph), outer_(graph.origin()) {
    std::string name(node.name);
    if (name.empty() && !node.outputs.empty()) name = node.outputs[0];
    graph.set_origin(outer_.empty() ? name : outer_ + "/" + name);
  }
  ~Origin() { graph_.set_origin(outer_); }
  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;

 private:
  Graph& graph_;
  std::string outer_;
};

}  // namespace

const Operand* Importer::Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope; scope = scope->outer)
    if (auto found = scope->values.find(name); found != scope->values.end()) return &found->second;
  return nullptr;
}

const Operand& Importer::value_of(std::string_view name, const Scope& scope) const {
  const Operand* found = scope.find(name);
  if (!found) fail("its operand \"{}\" is made by no earlier node", name);
  return *found;
}

const AttributeProto* Importer::attribute(const NodeProto& node, const Scope& scope,
                                          std::string_view name) {
  for (const AttributeProto& a : node.attributes) {
    if (a.name != name) continue;
    if (a.ref_name.empty()) return &a;
    if (!scope.attributes) fail("attribute {} refers to a function's, outside of one", name);
    auto found = scope.attributes->find(a.ref_name);
    return found == scope.attributes->end() ? nullptr : found->second;
  }
  return nullptr;
}

Graph Importer::run(const std::vector<OnnxValue>& inputs, const std::vector<std::string>& outputs) {
  Scope scope{nullptr, model_.opsets};
  const GraphProto& main = model_.graph;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Value value = graph_.input(inputs[i].graph_name, inputs[i].dtype, inputs[i].dims);
    scope.values.insert_or_assign(main.inputs[i].name, Operand{value, main.inputs[i].elem_type});
  }
  read_initializers(main, scope, true);
  read_nodes(main.nodes, scope);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Operand* made = scope.find(main.outputs[i].name);
    if (!made) fail("output {}: no node makes it", main.outputs[i].name);
    int declared = main.outputs[i].elem_type;
    if (declared != undefined && declared != made->type)
      fail("output {}: declared as {}, its node makes {}", main.outputs[i].name,
           name_of_element(declared), name_of_element(made->type));
    graph_.output(outputs[i], made->value);
  }
  verify(graph_);
  return std::move(graph_);
}

void Importer::read_initializers(const GraphProto& graph, Scope& scope, bool keep_inputs) {
  if (graph.has_sparse_initializers) fail("sparse initializers are not supported");
  for (const TensorProto& proto : graph.initializers) {
    if (keep_inputs && scope.values.contains(proto.name)) continue;  // an input's default
    Value value = graph_.apply(OpCode::constant, {}, {{"value", tensors_.read(proto)}});
    scope.values.insert_or_assign(proto.name, Operand{value, proto.data_type});
  }
}

void Importer::read_nodes(const std::vector<NodeProto>& nodes, Scope& scope) {
  for (const NodeProto& node : nodes) read_node(node, scope);
}

void Importer::read_node(const NodeProto& node, Scope& scope) {
  Origin origin(graph_, node);
  try {
    if (const FunctionProto* function = find_function(model_, node))
      call(*function, node, scope);
    else
      convert(node, scope);
  } catch (const Error& error) {
    fail("{}: {}", node_name(node), error.what());
  } catch (const std::out_of_range&) {  // of at(), which converters use on lists of the file
    fail("{}: an operand or attribute has fewer axes or elements than are needed", node_name(node));
  }
}

void Importer::convert(const NodeProto& node, Scope& scope) {
  std::int64_t opset = opset_of(scope.opsets, "");
  if (!node.domain.empty()) fail("operators of the domain \"{}\" are not supported", node.domain);
  const OperatorRow* row = find_operator(node.op_type, opset);
  if (!row) fail("the operator is not supported (opset {})", opset);
  Context context{.graph = graph_,
                  .known = known_,
                  .node = node,
                  .opset = opset,
                  .find = [&](std::string_view name) { return attribute(node, scope, name); },
                  .read_tensor = [&](const TensorProto& proto) { return tensors_.read(proto); },
                  .run_graph =
                      [&](const GraphProto& graph, const std::vector<Operand>& inputs) {
                        return run_graph(graph, inputs, scope);
                      },
                  .operands = {},
                  .results = {}};
  for (std::string_view name : node.inputs) {
    if (name.empty())
      context.operands.emplace_back();
    else
      context.operands.emplace_back(value_of(name, scope));
  }
  row->convert(context);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (i >= context.results.size() || !context.results[i])
      fail("its output {} ({}) is not supported", i, node.outputs[i]);
    scope.values.insert_or_assign(node.outputs[i], *context.results[i]);
  }
}

void Importer::call(const FunctionProto& function, const NodeProto& node, Scope& scope) {
  if (scope.depth >= max_depth) fail("calls are nested deeper than {}", max_depth);
  Attributes attributes;
  for (const AttributeProto& a : function.attribute_defaults) attributes[a.name] = &a;
  for (const AttributeProto& a : node.attributes)
    if (const AttributeProto* given = attribute(node, scope, a.name)) attributes[a.name] = given;
  Scope body{nullptr, function.opsets, &attributes, scope.depth + 1, {}};
  if (node.inputs.size() > function.inputs.size())
    fail("{} operands for a function of {}", node.inputs.size(), function.inputs.size());
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (!node.inputs[i].empty())
      body.values.insert_or_assign(function.inputs[i], value_of(node.inputs[i], scope));
  read_nodes(function.nodes, body);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (i >= function.outputs.size()) fail("the function has no output {}", i);
    scope.values.insert_or_assign(node.outputs[i], value_of(function.outputs[i], body));
  }
}

std::vector<Operand> Importer::run_graph(const GraphProto& graph,
                                         const std::vector<Operand>& inputs, const Scope& outer) {
  if (outer.depth >= max_depth) fail("graphs are nested deeper than {}", max_depth);
  Scope scope{&outer, outer.opsets, outer.attributes, outer.depth + 1, {}};
  if (inputs.size() != graph.inputs.size())
    fail("graph {}: {} values for {} inputs", graph.name, inputs.size(), graph.inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    scope.values.insert_or_assign(graph.inputs[i].name, inputs[i]);
  read_initializers(graph, scope, false);
  read_nodes(graph.nodes, scope);
  std::vector<Operand> outputs;
  for (const ValueInfoProto& output : graph.outputs)
    outputs.push_back(value_of(output.name, scope));
  return outputs;
}

}  // namespace fuseline::onnx
