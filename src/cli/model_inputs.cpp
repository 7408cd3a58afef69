// Inputs of models: from NumPy's files, or random.
#include "cli/model_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "base/env.hpp"
#include "base/fail.hpp"
#include "base/nearest.hpp"
#include "cli/parse.hpp"
#include "graph/scalar.hpp"
#include "onnx/tensor_data.hpp"

namespace fuseline::cli {
namespace {

const OnnxValue& input_named(const ModelFile& model, const std::string& name) {
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

void add(const ModelFile& model, TensorMap& inputs, const std::string& name, Tensor tensor) {
  const std::string& own = input_named(model, name).graph_name;
  for (const auto& [given, old] : inputs)
    if (given == own) fail("input {} is given twice", name);
  inputs.emplace_back(own, std::move(tensor));
}

bool is_given(const TensorMap& inputs, const std::string& name) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const auto& in) { return in.first == name; });
}

Tensor random_tensor(const OnnxValue& input, const DimBindings& sizes, std::mt19937_64& random) {
  Shape shape;
  for (const Dim& dim : input.dims) shape.push_back(dim.evaluate(sizes));
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

void add_defaults(const ModelFile& model, TensorMap& inputs) {
  for (const auto& [name, tensor] : model.defaults())
    if (!is_given(inputs, name)) inputs.emplace_back(name, tensor);
}

void ModelOptions::add_to(CLI::App& command, bool required) {
  command.add_option("MODEL", model, "An ONNX file, or what `compile` wrote")->required(required);
  command.add_option("--input", inputs, "NAME=FILE: .npy, .pb, picture; or all in one .npz")
      ->type_name("FILE");
  auto text = [&](const char* name, std::string& value, const char* type, const char* help) {
    command.add_option(name, value, help)->type_name(type);
  };
  text("--device", device, "NAME", "auto (the default), cpu, cuda or cuda:N");
  text("--fusion", fusion, "on|off", "off: one kernel for each operation, to compare (on)");
  text("--threads", threads, "N", "Threads of the kernels");
  text("--precision", precision, "TYPE", "fp32 (the default), bf16 or fp16; sums stay in fp32");
  command
      .add_option("--keep-fp32", keep_fp32, "Node of the model that stays in fp32; also NAME/...")
      ->type_name("NODE")
      ->allow_extra_args(false);
  command.add_option("--size", sizes, "A size of inputs that are not given: NAME=N (1)")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
  picture.add_to(command);
}

CompileOptions ModelOptions::compile_options() const {
  CompileOptions options;
  options.device = device;
  if (!device.starts_with("cuda:")) parse_choice("--device", device, {"auto", "cpu", "cuda"});
  options.fusion = parse_choice("--fusion", fusion, {"on", "off"}) == "on";
  std::string type = parse_choice("--precision", precision, {"fp32", "bf16", "fp16"});
  options.precision = type == "bf16"   ? Precision::bf16
                      : type == "fp16" ? Precision::fp16
                                       : Precision::fp32;
  if (options.precision == Precision::fp32 && !keep_fp32.empty())
    fail("--keep-fp32: everything is fp32 already; it goes with --precision bf16 or fp16");
  options.keep_fp32 = keep_fp32;
  return options;
}

void ModelOptions::apply_threads() const {
  constexpr std::int64_t most = 4096;
  if (!threads.empty())
    set_env(EnvVar::num_threads, std::to_string(parse_integer("--threads", threads, 1, most)));
}

namespace {

// The one input of the model that has no default.
const OnnxValue& only_input(const ModelFile& model, const std::string& word) {
  auto is_wanted = [](const OnnxValue& v) { return !v.has_default; };
  const auto& inputs = model.inputs();
  auto wanted = std::count_if(inputs.begin(), inputs.end(), is_wanted);
  if (wanted != 1) fail("--input {}: the model has {} inputs; write NAME={}", word, wanted, word);
  return *std::find_if(inputs.begin(), inputs.end(), is_wanted);
}

Tensor read_input(const OnnxValue& input, const std::string& file, const PictureOptions& picture,
                  std::vector<std::string>& remarks) {
  if (file.ends_with(".pb")) return read_tensor_file(file);
  if (!is_picture(file)) return read_npy(file);
  PreparedPicture prepared = prepare_picture(input, file, picture);
  remarks.push_back(fmt::format("{}: {}", input.name, prepared.how));
  return prepared.tensor;
}

}  // namespace

ModelInputs read_inputs(const ModelFile& model, const ModelOptions& options) {
  ModelInputs inputs;
  for (const std::string& word : options.inputs) {
    std::size_t equals = word.find('=');
    bool whole_word = equals == word.npos || std::filesystem::exists(word);
    std::string file = whole_word ? word : word.substr(equals + 1);
    if (file.ends_with(".npz") && whole_word) {
      for (auto& [name, tensor] : read_npz(file)) add(model, inputs.tensors, name, tensor);
      continue;
    }
    const OnnxValue& input =
        whole_word ? only_input(model, word) : input_named(model, word.substr(0, equals));
    add(model, inputs.tensors, input.name,
        read_input(input, file, options.picture, inputs.remarks));
  }
  add_defaults(model, inputs.tensors);
  return inputs;
}

Tensor read_tensor_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("{}: the file cannot be opened", path.string());
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  try {
    return onnx::TensorReader(nullptr, {}).read(onnx::parse_tensor(bytes));
  } catch (const Error& error) {
    fail("{}: {}", path.string(), error.what());
  }
}

DimBindings read_sizes(const ModelFile& model, const std::vector<std::string>& words) {
  DimBindings sizes;
  std::vector<std::string> names;
  for (const OnnxValue& input : model.inputs())
    for (const Dim& dim : input.dims)
      for (const std::string& name : dim.names())
        if (sizes.emplace(name, 1).second) names.push_back(name);
  for (const std::string& word : words) {
    std::string name = word.substr(0, word.find('='));
    if (name.size() == word.size()) fail("--size {}: write NAME=N", word);
    auto found = sizes.find(name);
    if (found == sizes.end()) {
      auto meant = nearest(name, names);
      fail("--size {}: the model has no size {}{}", word, name,
           meant           ? fmt::format("; did you mean {}?", *meant)
           : names.empty() ? std::string("; all its sizes are fixed")
                           : fmt::format("; its sizes are {}", fmt::join(names, ", ")));
    }
    found->second = parse_integer("--size " + name, word.substr(name.size() + 1), 0, 1ll << 40);
  }
  return sizes;
}

TensorMap random_inputs(const ModelFile& model, TensorMap given, const DimBindings& sizes,
                        std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const OnnxValue& input : model.inputs())
    if (!is_given(given, input.graph_name))
      given.emplace_back(input.graph_name, random_tensor(input, sizes, random));
  return given;
}

}  // namespace fuseline::cli
