// Inputs of models: from NumPy's files, or random.
#include "cli/model_inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <random>

#include "base/env.hpp"
#include "base/fail.hpp"
#include "cli/parse.hpp"
#include "graph/scalar.hpp"

namespace fuseline::cli {
namespace {

const OnnxValue& input_named(const OnnxModel& model, const std::string& name) {
  std::vector<std::string> names;
  for (const OnnxValue& input : model.inputs()) {
    if (input.name == name || input.graph_name == name) return input;
    names.push_back(input.name);
  }
  if (auto meant = nearest(name, names))
    fail("the model has no input \"{}\"; did you mean \"{}\"?", name, *meant);
  std::string list;
  for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
  fail("the model has no input \"{}\"; its inputs are: {}", name, list.empty() ? "none" : list);
}

void add(const OnnxModel& model, TensorMap& inputs, const std::string& name, Tensor tensor) {
  const std::string& own = input_named(model, name).graph_name;
  for (const auto& [given, old] : inputs)
    if (given == own) fail("input {} is given twice", name);
  inputs.emplace_back(own, std::move(tensor));
}

bool is_given(const TensorMap& inputs, const std::string& name) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const auto& in) { return in.first == name; });
}

void add_defaults(const OnnxModel& model, TensorMap& inputs) {
  for (auto& [name, tensor] : model.defaults())
    if (!is_given(inputs, name)) inputs.emplace_back(name, tensor);
}

Tensor random_tensor(const OnnxValue& input, std::mt19937_64& random) {
  Shape shape;
  for (const Dim& dim : input.dims) shape.push_back(dim.is_constant() ? dim.constant() : 1);
  Tensor tensor = Tensor::allocate(input.dtype, shape);
  std::uniform_real_distribution<double> real(-1, 1);
  std::uniform_int_distribution<std::int64_t> whole(0, is_bool(input.dtype) ? 1 : 9);
  auto* to = tensor.as<char>();
  for (std::int64_t i = 0; i < tensor.size(); ++i, to += size_of(input.dtype)) {
    Number n;
    if (is_float(input.dtype))
      n.d = real(random);
    else
      n.i = whole(random);
    store_number(to, input.dtype, n);
  }
  return tensor;
}

}  // namespace

void ModelOptions::add_to(CLI::App& command) {
  command.add_option("MODEL", model, "The model, an ONNX file")->required();
  command.add_option("--input", inputs, "NAME=FILE.npy or FILE.npz; more than one is fine")
      ->type_name("FILE");
  auto text = [&](const char* name, std::string& value, const char* type, const char* help) {
    command.add_option(name, value, help)->type_name(type);
  };
  text("--device", device, "NAME", "auto (the default), cpu, cuda or cuda:N");
  text("--fusion", fusion, "on|off", "off: one kernel for each operation, to compare (on)");
  text("--threads", threads, "N", "Threads of the kernels");
}

CompileOptions ModelOptions::compile_options() const {
  CompileOptions options;
  options.device = device;
  if (!device.starts_with("cuda:")) parse_choice("--device", device, {"auto", "cpu", "cuda"});
  options.fusion = parse_choice("--fusion", fusion, {"on", "off"}) == "on";
  return options;
}

void ModelOptions::apply_threads() const {
  constexpr std::int64_t most = 4096;
  if (!threads.empty())
    set_env(EnvVar::num_threads, std::to_string(parse_integer("--threads", threads, 1, most)));
}

TensorMap read_inputs(const OnnxModel& model, const std::vector<std::string>& words) {
  TensorMap inputs;
  for (const std::string& word : words) {
    std::size_t equals = word.find('=');
    bool whole_word = equals == word.npos || std::filesystem::exists(word);
    std::string file = whole_word ? word : word.substr(equals + 1);
    if (file.ends_with(".npz") && whole_word) {
      for (auto& [name, tensor] : read_npz(file)) add(model, inputs, name, tensor);
      continue;
    }
    if (!whole_word) {
      add(model, inputs, word.substr(0, equals), read_npy(file));
      continue;
    }
    auto wanted = std::count_if(model.inputs().begin(), model.inputs().end(),
                                [](const OnnxValue& v) { return !v.has_default; });
    auto first = std::find_if(model.inputs().begin(), model.inputs().end(),
                              [](const OnnxValue& v) { return !v.has_default; });
    if (wanted != 1) fail("--input {}: the model has {} inputs; write NAME={}", word, wanted, word);
    add(model, inputs, first->name, read_npy(file));
  }
  add_defaults(model, inputs);
  return inputs;
}

TensorMap random_inputs(const OnnxModel& model, TensorMap given, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const OnnxValue& input : model.inputs())
    if (!is_given(given, input.graph_name))
      given.emplace_back(input.graph_name, random_tensor(input, random));
  return given;
}

}  // namespace fuseline::cli
