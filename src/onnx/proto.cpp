// The messages of a model file. Field numbers are those of ONNX's onnx.proto.
#include "onnx/proto.hpp"

#include "base/fail.hpp"
#include "onnx/wire.hpp"

namespace fuseline::onnx {
namespace {

constexpr int max_depth = 64;  // of graphs inside attributes

// "" and "ai.onnx" are the same domain.
std::string_view domain_of(std::string_view name) { return name == "ai.onnx" ? "" : name; }

struct KeyValue {
  std::string_view key, value;
};

KeyValue parse_entry(std::string_view bytes) {
  KeyValue entry;
  for (WireReader r(bytes, "StringStringEntryProto"); r.next();) {
    if (r.field() == 1) entry.key = r.bytes();
    if (r.field() == 2) entry.value = r.bytes();
  }
  return entry;
}

void parse_opset(std::string_view bytes, Opsets& opsets) {
  std::string domain;
  std::int64_t version = 0;
  for (WireReader r(bytes, "OperatorSetIdProto"); r.next();) {
    if (r.field() == 1) domain = domain_of(r.bytes());
    if (r.field() == 2) version = r.integer();
  }
  opsets[domain] = version;
}

GraphProto parse_graph(std::string_view bytes, int depth);

AttributeProto parse_attribute(std::string_view bytes, int depth) {
  if (depth > max_depth) fail("AttributeProto: graphs are nested deeper than {}", max_depth);
  AttributeProto a;
  for (WireReader r(bytes, "AttributeProto"); r.next();) switch (r.field()) {
      case 1:
        a.name = r.bytes();
        break;
      case 2:
        a.f = r.real();
        break;
      case 3:
        a.i = r.integer();
        break;
      case 4:
        a.s = r.bytes();
        break;
      case 5:
        a.t = std::make_shared<TensorProto>(parse_tensor(r.bytes()));
        break;
      case 6:
        a.g = std::make_shared<GraphProto>(parse_graph(r.bytes(), depth + 1));
        break;
      case 7:
        r.reals(a.floats);
        break;
      case 8:
        r.integers(a.ints);
        break;
      case 9:
        a.strings.push_back(r.bytes());
        break;
      case 20:
        a.type = static_cast<int>(r.integer());
        break;
      case 21:
        a.ref_name = r.bytes();
        break;
      default:
        break;
    }
  return a;
}

NodeProto parse_node(std::string_view bytes, int depth) {
  NodeProto node;
  for (WireReader r(bytes, "NodeProto"); r.next();) switch (r.field()) {
      case 1:
        node.inputs.push_back(r.bytes());
        break;
      case 2:
        node.outputs.push_back(r.bytes());
        break;
      case 3:
        node.name = r.bytes();
        break;
      case 4:
        node.op_type = r.bytes();
        break;
      case 5:
        node.attributes.push_back(parse_attribute(r.bytes(), depth));
        break;
      case 7:
        node.domain = domain_of(r.bytes());
        break;
      case 8:
        node.overload = r.bytes();
        break;
      default:
        break;
    }
  return node;
}

DimProto parse_dim(std::string_view bytes) {
  DimProto dim;
  for (WireReader r(bytes, "TensorShapeProto.Dimension"); r.next();) {
    if (r.field() == 1) dim.value = r.integer();
    if (r.field() == 2) dim.param = r.bytes();
  }
  return dim;
}

void parse_tensor_type(std::string_view bytes, ValueInfoProto& info) {
  info.is_tensor = true;
  for (WireReader r(bytes, "TypeProto.Tensor"); r.next();) {
    if (r.field() == 1) info.elem_type = static_cast<int>(r.integer());
    if (r.field() != 2) continue;
    info.shape.emplace();
    for (WireReader s(r.bytes(), "TensorShapeProto"); s.next();)
      if (s.field() == 1) info.shape->push_back(parse_dim(s.bytes()));
  }
}

ValueInfoProto parse_value_info(std::string_view bytes) {
  ValueInfoProto info;
  for (WireReader r(bytes, "ValueInfoProto"); r.next();) {
    if (r.field() == 1) info.name = r.bytes();
    if (r.field() != 2) continue;
    for (WireReader t(r.bytes(), "TypeProto"); t.next();)
      if (t.field() == 1) parse_tensor_type(t.bytes(), info);
  }
  return info;
}

GraphProto parse_graph(std::string_view bytes, int depth) {
  GraphProto graph;
  for (WireReader r(bytes, "GraphProto"); r.next();) switch (r.field()) {
      case 1:
        graph.nodes.push_back(parse_node(r.bytes(), depth));
        break;
      case 2:
        graph.name = r.bytes();
        break;
      case 5:
        graph.initializers.push_back(parse_tensor(r.bytes()));
        break;
      case 11:
        graph.inputs.push_back(parse_value_info(r.bytes()));
        break;
      case 12:
        graph.outputs.push_back(parse_value_info(r.bytes()));
        break;
      case 15:
        graph.has_sparse_initializers = true;
        break;
      default:
        break;
    }
  return graph;
}

FunctionProto parse_function(std::string_view bytes) {
  FunctionProto function;
  for (WireReader r(bytes, "FunctionProto"); r.next();) switch (r.field()) {
      case 1:
        function.name = r.bytes();
        break;
      case 4:
        function.inputs.push_back(r.bytes());
        break;
      case 5:
        function.outputs.push_back(r.bytes());
        break;
      case 6:
        function.attributes.push_back(r.bytes());
        break;
      case 7:
        function.nodes.push_back(parse_node(r.bytes(), 0));
        break;
      case 9:
        parse_opset(r.bytes(), function.opsets);
        break;
      case 10:
        function.domain = domain_of(r.bytes());
        break;
      case 11:
        function.attribute_defaults.push_back(parse_attribute(r.bytes(), 0));
        break;
      case 13:
        function.overload = r.bytes();
        break;
      default:
        break;
    }
  return function;
}

}  // namespace

TensorProto parse_tensor(std::string_view bytes) {
  TensorProto tensor;
  for (WireReader r(bytes, "TensorProto"); r.next();) switch (r.field()) {
      case 1:
        r.integers(tensor.dims);
        break;
      case 2:
        tensor.data_type = static_cast<int>(r.integer());
        break;
      case 4:
        r.reals(tensor.floats);
        break;
      case 5:   // int32_data
      case 7:   // int64_data
      case 11:  // uint64_data
        r.integers(tensor.integers);
        break;
      case 6:
        tensor.strings.push_back(r.bytes());
        break;
      case 8:
        tensor.name = r.bytes();
        break;
      case 9:
        tensor.raw_data = r.bytes();
        break;
      case 10:
        r.doubles(tensor.doubles);
        break;
      case 13: {
        KeyValue entry = parse_entry(r.bytes());
        tensor.external_data[entry.key] = entry.value;
        break;
      }
      case 14:
        tensor.external = r.integer() == 1;
        break;
      default:
        break;
    }
  return tensor;
}

ModelProto parse_model(std::string_view bytes) {
  ModelProto model;
  bool has_graph = false;
  for (WireReader r(bytes, "ModelProto"); r.next();) switch (r.field()) {
      case 1:
        model.ir_version = r.integer();
        break;
      case 2:
        model.producer_name = r.bytes();
        break;
      case 7:
        model.graph = parse_graph(r.bytes(), 0);
        has_graph = true;
        break;
      case 8:
        parse_opset(r.bytes(), model.opsets);
        break;
      case 25:
        model.functions.push_back(parse_function(r.bytes()));
        break;
      default:
        break;
    }
  if (!has_graph) fail("ModelProto: it has no graph; this is no ONNX model");
  return model;
}

}  // namespace fuseline::onnx
