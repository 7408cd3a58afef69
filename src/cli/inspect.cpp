// fuseline inspect: what a model file holds, and whether all of it can be run.
#include <fmt/format.h>

#include <memory>

#include "base/fail.hpp"
#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/model_inputs.hpp"
#include "cli/terminal.hpp"

namespace fuseline::cli {
namespace {

struct InspectOptions {
  ModelOptions model;
  bool text = false;
  bool json = false;
};

// The graph, or why there is none.
struct Read {
  std::optional<Graph> graph;
  std::vector<std::string> decided;
  std::string problem;
};

Read read_graph(const OnnxModel& model, const TensorMap& inputs) {
  Read result;
  try {
    result.graph = model.graph(inputs, &result.decided);
  } catch (const Error& error) {
    result.problem = error.what();
  }
  return result;
}

std::int64_t constant_bytes(const Graph& graph) {
  std::int64_t bytes = 0;
  for (const Node& node : graph.nodes())
    if (node.op == OpCode::constant) bytes += node.attributes.tensor("value").bytes();
  return bytes;
}

std::string operator_line(const OnnxModel& model) {
  std::string line;
  for (const auto& [name, count] : model.operators())
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", name, count);
  return line;
}

void print_text(const OnnxModel& model, const Read& read, bool text) {
  auto row = [](std::string_view name, std::string_view value) {
    print_line(stdout, fmt::format("{:<12}{}", name, value));
  };
  row("producer", model.producer().empty() ? "not named" : model.producer());
  row("format", fmt::format("IR {}, opset {}", model.ir_version(), model.opset()));
  int with_default = 0;
  for (const OnnxValue& input : model.inputs()) {
    with_default += input.has_default;
    if (input.has_default) continue;
    row("input", fmt::format("{}  {}{}", input.name, input.type, to_string(input.dims)));
  }
  if (with_default) row("input", fmt::format("{} more, each with a default", with_default));
  for (const auto& [name, graph_name] : model.outputs()) row("output", name);
  row("operators", operator_line(model));
  for (const std::string& line : model.unsupported()) row("missing", line);
  if (!read.graph) {
    row("graph", "cannot be read: " + read.problem);
    return;
  }
  for (const std::string& name : read.decided)
    row("decides", name + ": its value shapes the graph");
  row("graph", fmt::format("{} operations, {:.1f} MB of constants", read.graph->nodes().size(),
                           static_cast<double>(constant_bytes(*read.graph)) / 1e6));
  if (text) print_line(stdout, read.graph->to_text());
}

Json as_json(const OnnxModel& model, const Read& read) {
  Json inputs = Json::array(), outputs = Json::array(), operators = Json::object();
  for (const OnnxValue& input : model.inputs()) {
    Json dims = Json::array();
    for (const Dim& dim : input.dims) dims.push_back(dim.to_string());
    inputs.push_back({{"name", input.name},
                      {"type", input.type},
                      {"dims", dims},
                      {"has_default", input.has_default}});
  }
  for (const auto& [name, graph_name] : model.outputs()) outputs.push_back(name);
  for (const auto& [name, count] : model.operators()) operators[name] = count;
  Json json = {{"producer", model.producer()},
               {"ir_version", model.ir_version()},
               {"opset", model.opset()},
               {"inputs", inputs},
               {"outputs", outputs},
               {"operators", operators},
               {"unsupported", model.unsupported()}};
  if (!read.graph) {
    json["problem"] = read.problem;
    return json;
  }
  json["decides"] = read.decided;
  json["operations"] = read.graph->nodes().size();
  json["constant_bytes"] = constant_bytes(*read.graph);
  return json;
}

int inspect(const InspectOptions& options) {
  OnnxModel model = OnnxModel::open(options.model.model);
  TensorMap inputs = read_inputs(model, options.model).tensors;
  Read read = read_graph(model, inputs);
  if (options.json)
    print_json(as_json(model, read));
  else
    print_text(model, read, options.text);
  return read.graph ? exit_fine : exit_some_failed;
}

}  // namespace

void add_inspect(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("inspect", "What an ONNX model holds");
  auto options = std::make_shared<InspectOptions>();
  command->add_option("MODEL", options->model.model, "The model, an ONNX file")->required();
  command
      ->add_option("--input", options->model.inputs,
                   "Values of inputs that decide shapes: NAME=FILE.npy")
      ->type_name("FILE");
  command->add_flag("--text", options->text, "Also print the graph");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->footer("Examples:\n  fuseline inspect model.onnx\n  fuseline inspect model.onnx --json");
  command->callback([options, &run] { run = [options] { return inspect(*options); }; });
}

}  // namespace fuseline::cli
