// What a model file says, message by message, as ONNX names it. Strings and tensor data are views
// of the file's bytes.
//
// The file is read in place (wire.hpp) and not through generated code: protobuf copies every byte
// string and refuses messages above 2 GB.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fuseline::onnx {

struct TensorProto {
  std::vector<std::int64_t> dims;
  int data_type = 0;
  std::string_view name;
  std::optional<std::string_view> raw_data;
  std::vector<std::int64_t> integers;  // int32_data, int64_data or uint64_data
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::string_view> strings;
  bool external = false;
  std::map<std::string_view, std::string_view> external_data;
};

struct GraphProto;

struct AttributeProto {
  std::string_view name;
  std::string_view ref_name;  // in a function body: the caller's attribute
  int type = 0;
  float f = 0;
  std::int64_t i = 0;
  std::string_view s;
  std::shared_ptr<const TensorProto> t;
  std::shared_ptr<const GraphProto> g;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string_view> strings;
};

struct NodeProto {
  std::string_view name, op_type, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<AttributeProto> attributes;
};

struct DimProto {
  std::optional<std::int64_t> value;
  std::string_view param;
};

struct ValueInfoProto {
  std::string_view name;
  bool is_tensor = false;
  int elem_type = 0;
  std::optional<std::vector<DimProto>> shape;
};

struct GraphProto {
  std::string_view name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<ValueInfoProto> inputs, outputs;
  bool has_sparse_initializers = false;
};

using Opsets = std::map<std::string, std::int64_t, std::less<>>;  // version by domain

struct FunctionProto {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<AttributeProto> attribute_defaults;
  std::vector<NodeProto> nodes;
  Opsets opsets;
};

struct ModelProto {
  std::int64_t ir_version = 0;
  std::string_view producer_name;
  Opsets opsets;
  GraphProto graph;
  std::vector<FunctionProto> functions;
};

// Error when the bytes are no model. The result holds views of them.
ModelProto parse_model(std::string_view bytes);
TensorProto parse_tensor(std::string_view bytes);

}  // namespace fuseline::onnx
