// fuseline run: a model on inputs from files.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "base/fail.hpp"
#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/model_inputs.hpp"
#include "cli/stage.hpp"
#include "cli/terminal.hpp"
#include "graph/scalar.hpp"

namespace fuseline::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  fuseline run model.onnx --input x=x.npy -o out.npz\n"
    "  fuseline run model.onnx --input all.npz       what comes out, in numbers\n"
    "  fuseline run model.onnx --input photo.jpg     a picture, resized to fit\n"
    "  fuseline run model.onnx --input image=p.png --scale 1/255 \\\n"
    "      --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225\n"
    "Pictures become what the input says: floats are pixels / 255 in RGB, bytes the\n"
    "pixels; sizes that the model fixes are made by linear resizing, others are the\n"
    "picture's own. A line says what was done.";

struct RunOptions {
  ModelOptions model;
  std::string output;
  bool json = false;
};

struct Summary {
  double low = INFINITY, high = -INFINITY, mean = 0;
  std::int64_t nan = 0;
};

Summary summarize(const Tensor& tensor) {
  Summary s;
  auto* from = tensor.as<const char>();
  double sum = 0;
  for (std::int64_t i = 0; i < tensor.size(); ++i, from += size_of(tensor.dtype())) {
    double x = convert(load_number(from, tensor.dtype()), tensor.dtype(), DType::f64).d;
    if (std::isnan(x)) {
      ++s.nan;
      continue;
    }
    s.low = std::min(s.low, x);
    s.high = std::max(s.high, x);
    sum += x;
  }
  if (std::int64_t count = tensor.size() - s.nan) s.mean = sum / static_cast<double>(count);
  return s;
}

// What the work returns; its time is a stage for `fuseline bench`.
template <class Work>
auto staged(const char* name, Work work) {
  Stage mark(name);
  return work();
}

int run_model(const RunOptions& options) {
  options.model.apply_threads();
  auto [model, given] = staged("read model", [&] {
    ModelFile opened = ModelFile::open(options.model.model, options.model.compile_options());
    ModelInputs read = read_inputs(opened, options.model);
    return std::pair(std::move(opened), std::move(read));
  });
  const TensorMap& inputs = given.tensors;
  if (!options.json)
    for (const std::string& remark : given.remarks) print_line(stdout, remark);
  Program program = staged("load kernels", [&, &model = model] {
    Program made = model.program(inputs);
    made.output_shapes(inputs);  // compiles what this size needs
    return made;
  });
  std::vector<Tensor> outputs = staged("kernels", [&] { return program.run(inputs); });
  NamedArrays named;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    named.emplace_back(model.outputs()[i].first, outputs[i]);
  if (!options.output.empty()) {
    Stage mark("write outputs");
    write_npz(options.output, named);
  }
  Json list = Json::array();
  for (const auto& [name, tensor] : named) {
    Summary s = summarize(tensor);
    if (options.json)
      list.push_back({{"name", name},
                      {"type", name_of(tensor.dtype())},
                      {"shape", tensor.shape()},
                      {"min", s.low},
                      {"mean", s.mean},
                      {"max", s.high},
                      {"nan", s.nan}});
    else
      print_line(stdout, fmt::format("{}  {}{}  min {:g}  mean {:g}  max {:g}{}", name,
                                     name_of(tensor.dtype()), to_string(tensor.shape()), s.low,
                                     s.mean, s.high, s.nan ? fmt::format("  NaN {}", s.nan) : ""));
  }
  if (options.json)
    print_json(
        {{"device", program.device()}, {"pictures", given.remarks}, {"outputs", std::move(list)}});
  return exit_fine;
}

}  // namespace

void add_run(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("run", "Run an ONNX model");
  auto options = std::make_shared<RunOptions>();
  options->model.add_to(*command);
  command->add_option("-o,--output", options->output, "Write the outputs, a NumPy archive")
      ->type_name("OUT.npz");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->footer(examples);
  command->callback([options, &run] { run = [options] { return run_model(*options); }; });
}

}  // namespace fuseline::cli
