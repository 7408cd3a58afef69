// OnnxModel: the public face of the reader.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>

#include "base/fail.hpp"
#include "base/mapped_file.hpp"
#include "fuseline/onnx.hpp"
#include "onnx/importer.hpp"
#include "onnx/operators.hpp"

namespace fuseline {

using namespace onnx;

struct OnnxModel::Impl {
  MappedFile file;
  std::filesystem::path folder;
  ModelProto proto;
  std::vector<OnnxValue> inputs;
  std::vector<std::string> output_names;

  void read();
  void check_opsets() const;
  void declare_values();
  void find_unsupported(const std::vector<NodeProto>& nodes, std::int64_t opset, int depth,
                        std::vector<std::string>& lines) const;
  TensorReader tensors() const { return {file.owner, folder}; }
  NamedTensors with_defaults(NamedTensors values) const;
  std::set<std::string> open_inputs() const;
  Graph import(const NamedTensors& values, const std::vector<OnnxValue>& shaped,
               std::vector<std::string>* decided) const;
  Graph import_with(const NamedTensors& values, const std::vector<OnnxValue>& shaped,
                    std::vector<std::string>* decided, std::set<std::string> open) const;
};

namespace {

// Names that a Graph takes, each once.
class GraphNames {
 public:
  std::string add(std::string_view name) {
    std::string base;
    for (char c : name) {
      bool ok = std::isalnum(static_cast<unsigned char>(c)) ||
                std::string_view("_.:/-").find(c) != std::string_view::npos;
      base += ok ? c : '_';
    }
    if (base.empty()) base = "_";
    std::string result = base;
    for (int n = 2; !used_.insert(result).second; ++n) result = fmt::format("{}_{}", base, n);
    return result;
  }

 private:
  std::set<std::string> used_;
};

// "batch" stays a symbol of this name; axes without one get a name of their own.
Dim dim_of(const DimProto& dim, const std::string& input, std::size_t axis) {
  if (dim.value && *dim.value >= 0) return *dim.value;  // some writers mean "any" by -1
  std::string name;
  for (char c : dim.param) {
    bool ok = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    name += ok ? c : '_';
  }
  bool named = std::any_of(name.begin(), name.end(), [](char c) { return c != '_'; });
  if (!named) name = fmt::format("{}_{}", input, axis);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  if (std::isdigit(static_cast<unsigned char>(name[0]))) name = "n" + name;
  return Dim::symbol(name);
}

OnnxValue value_of(const ValueInfoProto& info, std::string graph_name) {
  OnnxValue value;
  value.name = info.name;
  value.graph_name = std::move(graph_name);
  if (!info.is_tensor) fail("input {}: only tensors are supported", info.name);
  value.type = name_of_element(info.elem_type);
  try {
    value.dtype = held_as(info.elem_type);
  } catch (const Error& error) {
    fail("input {}: {}", info.name, error.what());
  }
  if (!info.shape) fail("input {}: its shape is not declared", info.name);
  for (std::size_t axis = 0; axis < info.shape->size(); ++axis)
    value.dims.push_back(dim_of((*info.shape)[axis], value.graph_name, axis));
  return value;
}

template <class F>
auto within(const std::string& path, F&& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(path + ": " + error.what(), error.kind());
  }
}

}  // namespace

void OnnxModel::Impl::read() {
  proto = parse_model(file.bytes);
  check_opsets();
  declare_values();
}

void OnnxModel::Impl::check_opsets() const {
  auto found = proto.opsets.find("");
  if (found == proto.opsets.end()) return;
  if (found->second < oldest_opset || found->second > newest_opset)
    fail("opset {} of ai.onnx; this version reads {} to {}", found->second, oldest_opset,
         newest_opset);
}

void OnnxModel::Impl::declare_values() {
  GraphNames names;
  std::set<std::string_view> defaults, seen;
  for (const TensorProto& tensor : proto.graph.initializers) defaults.insert(tensor.name);
  for (const ValueInfoProto& info : proto.graph.inputs) {
    if (!seen.insert(info.name).second) fail("input {} is declared twice", info.name);
    inputs.push_back(value_of(info, names.add(info.name)));
    inputs.back().has_default = defaults.contains(info.name);
  }
  for (const ValueInfoProto& info : proto.graph.outputs)
    output_names.push_back(names.add(info.name));
  if (output_names.empty()) fail("the graph has no outputs");
}

void OnnxModel::Impl::find_unsupported(const std::vector<NodeProto>& nodes, std::int64_t opset,
                                       int depth, std::vector<std::string>& lines) const {
  if (depth > 16) return;
  for (const NodeProto& node : nodes) {
    if (find_function(proto, node)) continue;
    if (!node.domain.empty())
      lines.push_back(fmt::format("{}: domain \"{}\"", node_name(node), node.domain));
    else if (!find_operator(node.op_type, opset))
      lines.push_back(fmt::format("{}: no such operator (opset {})", node_name(node), opset));
    for (const AttributeProto& a : node.attributes)
      if (a.g) find_unsupported(a.g->nodes, opset, depth + 1, lines);
  }
}

OnnxModel OnnxModel::open(const std::string& path) {
  auto impl = std::make_shared<Impl>();
  impl->file = map_file(path);
  impl->folder = std::filesystem::path(path).parent_path();
  if (impl->folder.empty()) impl->folder = ".";
  within(path, [&] { impl->read(); });
  return OnnxModel(std::move(impl));
}

OnnxModel OnnxModel::from_bytes(std::string_view bytes) {
  auto impl = std::make_shared<Impl>();
  auto copy = std::make_shared<std::string>(bytes);
  impl->file = {copy, *copy};
  impl->read();
  return OnnxModel(std::move(impl));
}

std::int64_t OnnxModel::ir_version() const { return impl_->proto.ir_version; }
std::int64_t OnnxModel::opset() const { return opset_of(impl_->proto.opsets, ""); }
std::string OnnxModel::producer() const { return std::string(impl_->proto.producer_name); }
const std::vector<OnnxValue>& OnnxModel::inputs() const { return impl_->inputs; }

std::vector<std::pair<std::string, std::string>> OnnxModel::outputs() const {
  std::vector<std::pair<std::string, std::string>> names;
  for (std::size_t i = 0; i < impl_->output_names.size(); ++i)
    names.emplace_back(impl_->proto.graph.outputs[i].name, impl_->output_names[i]);
  return names;
}

std::vector<std::pair<std::string, int>> OnnxModel::operators() const {
  std::map<std::string, int> counts;
  for (const NodeProto& node : impl_->proto.graph.nodes) {
    std::string name(node.op_type);
    if (!node.domain.empty()) name = std::string(node.domain) + "." + name;
    ++counts[name];
  }
  return {counts.begin(), counts.end()};
}

std::vector<std::string> OnnxModel::unsupported() const {
  std::vector<std::string> lines;
  impl_->find_unsupported(impl_->proto.graph.nodes, opset(), 0, lines);
  for (const FunctionProto& f : impl_->proto.functions)
    impl_->find_unsupported(f.nodes, opset_of(f.opsets, ""), 0, lines);
  return lines;
}

namespace {

void refuse_unsupported(std::vector<std::string> lines) {
  constexpr std::size_t shown = 8;
  if (lines.empty()) return;
  std::string more = lines.size() > shown ? fmt::format("; and {} more", lines.size() - shown) : "";
  if (lines.size() > shown) lines.resize(shown);
  std::string list;
  for (const std::string& line : lines) list += (list.empty() ? "" : "; ") + line;
  fail("the model uses what is not supported: {}{}", list, more);
}

// The inputs with the shapes of these tensors.
std::vector<OnnxValue> shaped_as(std::vector<OnnxValue> inputs, const NamedTensors& tensors) {
  for (OnnxValue& input : inputs)
    for (const auto& [name, tensor] : tensors)
      if (name == input.graph_name && tensor.shape().size() == input.dims.size())
        input.dims.assign(tensor.shape().begin(), tensor.shape().end());
  return inputs;
}

}  // namespace

// Small integer inputs that the caller always gives, by names that sizes can have.
std::set<std::string> OnnxModel::Impl::open_inputs() const {
  auto is_plain = [](const std::string& name) {
    return std::all_of(name.begin(), name.end(),
                       [](char c) {
                         return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
                       }) &&
           !std::isdigit(static_cast<unsigned char>(name[0]));
  };
  std::set<std::string> open;
  for (const OnnxValue& input : inputs) {
    bool is_list = input.dims.empty() || (input.dims.size() == 1 && input.dims[0].is_constant());
    if (is_integer(input.dtype) && is_list && !input.has_default && is_plain(input.graph_name))
      open.insert(input.graph_name);
  }
  return open;
}

// One graph for all values of inputs that decide sizes where that can be said in Dims, else the
// graph for the values that were given.
Graph OnnxModel::Impl::import(const NamedTensors& values, const std::vector<OnnxValue>& shaped,
                              std::vector<std::string>* decided) const {
  std::set<std::string> open = open_inputs();
  if (!open.empty()) try {
      return import_with(values, shaped, decided, std::move(open));
    } catch (const Error&) {  // the same without them tells more
    }
  return import_with(values, shaped, decided, {});
}

Graph OnnxModel::Impl::import_with(const NamedTensors& values, const std::vector<OnnxValue>& shaped,
                                   std::vector<std::string>* decided,
                                   std::set<std::string> open) const {
  Importer importer(proto, tensors(), values, std::move(open));
  Graph graph = importer.run(shaped, output_names);
  if (decided) decided->assign(importer.decided().begin(), importer.decided().end());
  return graph;
}

NamedTensors OnnxModel::Impl::with_defaults(NamedTensors values) const {
  TensorReader reader = tensors();
  std::set<std::string_view> given;
  for (const auto& [name, tensor] : values) given.insert(name);
  std::map<std::string_view, const TensorProto*> known;
  for (const TensorProto& initializer : proto.graph.initializers)
    known[initializer.name] = &initializer;
  NamedTensors all = values;
  for (const OnnxValue& input : inputs)
    if (input.has_default && !given.contains(input.graph_name))
      all.emplace_back(input.graph_name, reader.read(*known.at(input.name)));
  return all;
}

Graph OnnxModel::graph(const std::vector<std::pair<std::string, Tensor>>& values,
                       std::vector<std::string>* decided) const {
  refuse_unsupported(unsupported());
  return impl_->import(impl_->with_defaults(values), impl_->inputs, decided);
}

Graph OnnxModel::graph_for(const std::vector<std::pair<std::string, Tensor>>& inputs,
                           std::vector<std::string>* decided) const {
  refuse_unsupported(unsupported());
  NamedTensors values = impl_->with_defaults(inputs);
  bool symbolic =
      std::any_of(impl_->inputs.begin(), impl_->inputs.end(), [](const OnnxValue& input) {
        return std::any_of(input.dims.begin(), input.dims.end(),
                           [](const Dim& dim) { return !dim.is_constant(); });
      });
  if (!symbolic) return impl_->import(values, impl_->inputs, decided);
  try {
    return impl_->import(values, impl_->inputs, decided);
  } catch (const Error&) {
    return impl_->import(values, shaped_as(impl_->inputs, inputs),
                         decided);  // its Error tells more
  }
}

std::vector<std::pair<std::string, Tensor>> OnnxModel::defaults() const {
  return impl_->with_defaults({});
}

}  // namespace fuseline
