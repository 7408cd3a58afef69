// fuseline inspect: what a model file holds, and whether all of it can be run.
#include <fmt/format.h>

#include <memory>
#include <set>

#include "base/fail.hpp"
#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/model_cost.hpp"
#include "cli/model_inputs.hpp"
#include "cli/terminal.hpp"
#include "graph/check_sizes.hpp"

namespace fuseline::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  fuseline inspect model.onnx\n"
    "  fuseline inspect model.onnx --size batch=8       what a run of 8 computes\n"
    "  fuseline inspect model.onnx --precision bf16     which nodes stay in fp32\n"
    "--input gives the values of inputs that decide shapes. `explain` tells what\n"
    "became of the model: library calls, Regions, memory.";

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
  ModelCost cost;
  double operations = 0;  // at the sizes of --size
  std::optional<std::string> lowered;
};

// Which nodes compute in the lower precision, and which that could have do not.
std::string lowered_line(const Graph& graph, const ModelOptions& options) {
  Program program = compile(graph, options.compile_options());
  std::set<std::string> low, wide;
  for (const Node& node : program.graph().nodes()) {
    DType dtype = program.graph().type(node.output).dtype;
    if (node.origin.empty() || node.op == OpCode::constant || node.op == OpCode::cast) continue;
    if (dtype == DType::f16 || dtype == DType::bf16) low.insert(node.origin);
    if (dtype == DType::f32) wide.insert(node.origin);
  }
  for (const std::string& name : low) wide.erase(name);
  std::string line = fmt::format("{} in {} nodes", options.precision, low.size());
  if (wide.empty()) return line;
  constexpr std::size_t shown = 8;
  std::vector<std::string> names(wide.begin(), wide.end());
  if (names.size() > shown) names.resize(shown);
  return line + fmt::format(", fp32 in {}: {}{}", wide.size(), fmt::join(names, ", "),
                            wide.size() > shown ? ", ..." : "");
}

Read read_graph(const ModelFile& model, const ModelOptions& options) {
  Read result;
  TensorMap inputs = read_inputs(model, options).tensors;
  DimBindings sizes = read_sizes(model, options.sizes);
  try {
    result.graph =
        model.onnx() ? model.onnx()->graph(inputs, &result.decided) : model.program({}).graph();
    result.cost = cost_of(*result.graph);
    // Elements of inputs that are sizes have no value here: they count as 1.
    for (const std::string& name : result.cost.operations.names()) sizes.emplace(name, 1);
    result.operations = static_cast<double>(result.cost.operations.evaluate(sizes));
    if (model.onnx() && options.compile_options().precision != Precision::fp32)
      result.lowered = lowered_line(*result.graph, options);
  } catch (const Error& error) {
    result.problem = error.what();
  }
  return result;
}

std::string operator_line(const OnnxModel& model) {
  std::string line;
  for (const auto& [name, count] : model.operators())
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", name, count);
  return line;
}

void row(std::string_view name, std::string_view value) {
  print_line(stdout, fmt::format("{:<12}{}", name, value));
}

// "float32[n, 3]"; sizes that the graph does not tell are left out.
std::string output_text(const Read& read, const std::string& graph_name) {
  if (!read.graph) return {};
  for (const NamedValue& output : read.graph->outputs())
    if (output.name == graph_name) {
      const ValueType& type = read.graph->type(output.value);
      return fmt::format("  {}{}", name_of(type.dtype), to_string(type.dims));
    }
  return {};
}

void print_head(const ModelFile& model, const Read& read) {
  if (const auto& onnx = model.onnx()) {
    row("producer", onnx->producer().empty() ? "not named" : onnx->producer());
    row("format", fmt::format("IR {}, opset {}", onnx->ir_version(), onnx->opset()));
  } else {
    row("format", "compiled by fuseline");
  }
  int with_default = 0;
  for (const OnnxValue& input : model.inputs()) {
    with_default += input.has_default;
    if (input.has_default) continue;
    row("input", fmt::format("{}  {}{}", input.name, input.type, to_string(input.dims)));
  }
  if (with_default) row("input", fmt::format("{} more, each with a default", with_default));
  for (const auto& [name, graph_name] : model.outputs())
    row("output", name + output_text(read, graph_name));
  if (!model.onnx()) return;
  row("operators", operator_line(*model.onnx()));
  for (const std::string& line : model.onnx()->unsupported()) row("missing", line);
}

std::string flop_line(const Read& read) {
  const Dim& all = read.cost.operations;
  std::string line =
      fmt::format("{} contractions, {}", read.cost.contractions, flop_text(read.operations));
  if (all.is_constant()) return line + " a run";
  std::string formula = all.to_string();
  if (formula.size() <= 60) return line + " where sizes are 1 or as --size says: " + formula;
  return fmt::format("{} where {} are 1 or as --size says", line, fmt::join(all.names(), ", "));
}

void print_text(const ModelFile& model, const Read& read, bool text) {
  print_head(model, read);
  if (!read.graph) {
    row("graph", "cannot be read: " + read.problem);
    return;
  }
  for (const std::string& name : read.decided)
    row("decides", name + ": its value shapes the graph");
  for (const std::string& name : operand_inputs(*read.graph))
    row("decides", name + ": its elements are sizes, any values will do");
  row("graph",
      fmt::format("{} operations, {} parameters, {} of constants", read.graph->nodes().size(),
                  read.cost.parameters, bytes_text(read.cost.bytes)));
  row("compute", flop_line(read));
  if (read.lowered) row("precision", *read.lowered);
  if (text) print_line(stdout, read.graph->to_text());
}

Json as_json(const ModelFile& model, const Read& read) {
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
  Json json = {{"compiled", !model.onnx()}, {"inputs", inputs}, {"outputs", outputs}};
  if (const auto& onnx = model.onnx()) {
    for (const auto& [name, count] : onnx->operators()) operators[name] = count;
    json["producer"] = onnx->producer();
    json["ir_version"] = onnx->ir_version();
    json["opset"] = onnx->opset();
    json["operators"] = operators;
    json["unsupported"] = onnx->unsupported();
  }
  if (!read.graph) {
    json["problem"] = read.problem;
    return json;
  }
  json["decides"] = read.decided;
  json["operations"] = read.graph->nodes().size();
  json["parameters"] = read.cost.parameters;
  json["constant_bytes"] = read.cost.bytes;
  json["contractions"] = read.cost.contractions;
  json["contraction_flop"] = read.operations;
  return json;
}

int inspect(const InspectOptions& options) {
  ModelFile model = ModelFile::open(options.model.model, options.model.compile_options());
  Read read = read_graph(model, options.model);
  if (options.json)
    print_json(as_json(model, read));
  else
    print_text(model, read, options.text);
  return read.graph ? exit_fine : exit_some_failed;
}

}  // namespace

void add_inspect(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("inspect", "What a model holds, and what it costs");
  auto options = std::make_shared<InspectOptions>();
  options->model.add_to(*command);
  command->add_flag("--text", options->text, "Also print the graph");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->footer(examples);
  command->callback([options, &run] { run = [options] { return inspect(*options); }; });
}

}  // namespace fuseline::cli
