// Opening models of both kinds, and the notes of compiled ones.
#include "cli/model_file.hpp"

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"
#include "base/json.hpp"

namespace fuseline::cli {
namespace {

constexpr const char* default_mark = "default ";
constexpr const char* decided_mark = "decides ";

const Tensor* find(const TensorMap& tensors, const std::string& name) {
  auto found = std::find_if(tensors.begin(), tensors.end(),
                            [&](const auto& item) { return item.first == name; });
  return found == tensors.end() ? nullptr : &found->second;
}

bool equal(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && a.is_dense() && b.is_dense() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())) == 0;
}

Json input_json(const OnnxValue& input) {
  Json dims = Json::array();
  for (const Dim& dim : input.dims) dims.push_back(dim.to_string());
  return {{"name", input.name}, {"graph_name", input.graph_name},
          {"type", input.type}, {"held_as", name_of(input.dtype)},
          {"dims", dims},       {"has_default", input.has_default}};
}

OnnxValue input_of(const Json& json) {
  OnnxValue input;
  input.name = json.at("name");
  input.graph_name = json.at("graph_name");
  input.type = json.at("type");
  auto dtype = dtype_from_name(json.at("held_as").get<std::string>());
  if (!dtype) fail("input {} has no element type", input.name);
  input.dtype = *dtype;
  for (const Json& dim : json.at("dims")) input.dims.push_back(Dim::parse(dim.get<std::string>()));
  input.has_default = json.at("has_default");
  return input;
}

}  // namespace

ModelFile ModelFile::open(const std::string& path, const CompileOptions& options) {
  ModelFile model;
  model.path_ = path;
  model.options_ = options;
  if (!is_saved_program(path)) {
    model.onnx_ = OnnxModel::open(path);
    model.inputs_ = model.onnx_->inputs();
    model.outputs_ = model.onnx_->outputs();
    model.defaults_ = model.onnx_->defaults();
    return model;
  }
  if (options.precision != Precision::fp32)
    fail(
        "{}: its precision was decided when it was compiled; --precision and --keep-fp32 go with "
        "the ONNX file",
        path);
  SavedNotes notes;
  model.compiled_ = load_program(path, options, &notes);
  try {
    model.read_notes(notes);
  } catch (const Json::exception&) {
    fail("{}: it does not tell its inputs and outputs; only files of `fuseline compile` do", path);
  }
  return model;
}

const OnnxModel& ModelFile::need_onnx(const char* command) const {
  if (!onnx_) fail("{}: {} needs the ONNX file that this was compiled from", path_, command);
  return *onnx_;
}

void ModelFile::read_notes(const SavedNotes& notes) {
  Json json = Json::parse(notes.text);
  for (const Json& input : json.at("inputs")) inputs_.push_back(input_of(input));
  for (const Json& output : json.at("outputs"))
    outputs_.emplace_back(output.at("name").get<std::string>(),
                          output.at("graph_name").get<std::string>());
  for (const auto& [name, tensor] : notes.tensors) {
    if (name.starts_with(default_mark))
      defaults_.emplace_back(name.substr(std::strlen(default_mark)), tensor);
    if (name.starts_with(decided_mark))
      decided_.emplace_back(name.substr(std::strlen(decided_mark)), tensor);
  }
}

SavedNotes ModelFile::notes(const std::vector<std::string>& decided,
                            const TensorMap& inputs) const {
  SavedNotes notes;
  Json in = Json::array(), out = Json::array();
  for (const OnnxValue& input : inputs_) in.push_back(input_json(input));
  for (const auto& [name, graph_name] : outputs_)
    out.push_back({{"name", name}, {"graph_name", graph_name}});
  notes.text = json_text({{"inputs", in}, {"outputs", out}}, -1);
  for (const auto& [name, tensor] : defaults_)
    notes.tensors.emplace_back(default_mark + name, tensor);
  for (const std::string& name : decided)
    if (const Tensor* given = find(inputs, name))
      notes.tensors.emplace_back(decided_mark + name, *given);
  return notes;
}

Program ModelFile::program(const TensorMap& inputs) const {
  if (onnx_) return compile(onnx_->graph_for(inputs), options_);
  for (const auto& [name, tensor] : decided_) {
    const Tensor* given = find(inputs, name);
    if (given && !equal(*given, tensor))
      fail(
          "input {}: {} was compiled for another value of it, which decides shapes; compile the "
          "model again with --input {}=FILE",
          name, path_, name);
  }
  return *compiled_;
}

Program ModelFile::compile_to(const std::string& path, const TensorMap& inputs) const {
  const OnnxModel& model = need_onnx("compile");
  std::vector<std::string> decided;
  auto is_given = [&](const OnnxValue& input) { return find(inputs, input.graph_name); };
  bool all = std::all_of(inputs_.begin(), inputs_.end(), is_given);
  Graph graph = all ? model.graph_for(inputs, &decided) : model.graph(inputs, &decided);
  Program program = compile(graph, options_);
  program.save(path, notes(decided, inputs));
  return program;
}

}  // namespace fuseline::cli
