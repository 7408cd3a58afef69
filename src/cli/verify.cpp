// fuseline verify: a model's fused program against its unfused one, or against expected outputs.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <memory>

#include "base/fail.hpp"
#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/model_inputs.hpp"
#include "cli/parse.hpp"
#include "cli/tensor_difference.hpp"
#include "cli/terminal.hpp"
#include "graph/op_table.hpp"
#include "onnx/tensor_data.hpp"

namespace fuseline::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* examples =
    "Examples:\n"
    "  fuseline verify model.onnx                  fused against unfused\n"
    "  fuseline verify model.onnx --input x=x.npy  the same, not on random numbers\n"
    "  fuseline verify FOLDER                      model.onnx, test_data_set_0, ...";

struct VerifyOptions {
  ModelOptions model;
  std::string rtol = "1e-3", atol = "1e-3", seed = "1";
  bool json = false;
};

double parse_tolerance(const char* name, const std::string& text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0))
    fail("{} {}: a number from 0 on is needed", name, text);
  return value;
}

// What was compared, one line each.
struct Row {
  std::string name;
  Difference difference;
};

// ---- fused against unfused

// The graph that makes one value of another.
Graph graph_of_value(const Graph& from, ValueId wanted) {
  Graph graph;
  std::vector<ValueId> made(from.value_count());
  for (const Node& node : from.nodes()) {
    std::vector<Value> operands;
    for (ValueId input : node.inputs) operands.push_back(graph.value(made[input]));
    if (node.op == OpCode::input) {
      made[node.output] = graph
                              .input(node.attributes.text("name"), from.type(node.output).dtype,
                                     from.type(node.output).dims)
                              .id();
    } else if (node.output <= wanted) {
      made[node.output] = graph.apply(node.op, operands, node.attributes).id();
    }
  }
  graph.output("value.of.node", graph.value(made[wanted]));
  return graph;
}

class Comparison {
 public:
  Comparison(const Graph& graph, const TensorMap& inputs, CompileOptions options,
             Tolerance tolerance)
      : graph_(graph), inputs_(inputs), options_(std::move(options)), tolerance_(tolerance) {}

  std::vector<Row> outputs() const {
    std::vector<Tensor> fused = run(graph_, true), unfused = run(graph_, false);
    std::vector<Row> rows;
    for (std::size_t i = 0; i < fused.size(); ++i)
      rows.push_back({graph_.outputs()[i].name, difference(fused[i], unfused[i], tolerance_)});
    return rows;
  }

  // The first value that deviates, found by halving: deviations pass on to what follows.
  std::optional<Row> first_deviation() const {
    std::vector<ValueId> values;
    for (const Node& node : graph_.nodes())
      if (node.op != OpCode::input && node.op != OpCode::constant) values.push_back(node.output);
    std::optional<Row> found;
    std::size_t low = 0, high = values.size();
    while (low < high) {
      std::size_t middle = (low + high) / 2;
      Graph part = graph_of_value(graph_, values[middle]);
      Difference d = difference(run(part, true)[0], run(part, false)[0], tolerance_);
      if (d.is_fine()) {
        low = middle + 1;
        continue;
      }
      high = middle;
      found = Row{
          fmt::format("%{} = {}", values[middle], name_of(graph_.node_of(values[middle]).op)), d};
    }
    return found;
  }

 private:
  std::vector<Tensor> run(const Graph& graph, bool fusion) const {
    CompileOptions options = options_;
    options.fusion = fusion;
    return compile(graph, options).run(inputs_);
  }

  const Graph& graph_;
  const TensorMap& inputs_;
  CompileOptions options_;
  Tolerance tolerance_;
};

// ---- ONNX's test folders

Tensor read_pb(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("{}: the file cannot be opened", path.string());
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  try {
    return onnx::TensorReader(nullptr, {}).read(onnx::parse_tensor(bytes));
  } catch (const Error& error) {
    fail("{}: {}", path.string(), error.what());
  }
}

std::vector<fs::path> data_sets(const fs::path& folder) {
  std::vector<fs::path> sets;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && entry.path().filename().string().starts_with("test_data_set"))
      sets.push_back(entry.path());
  std::sort(sets.begin(), sets.end());
  if (sets.empty()) fail("{}: no test_data_set_0 in this folder", folder.string());
  return sets;
}

std::vector<Row> check_set(const OnnxModel& model, const fs::path& set,
                           const CompileOptions& options, Tolerance tolerance) {
  TensorMap inputs;
  for (std::size_t i = 0; i < model.inputs().size(); ++i) {
    fs::path file = set / fmt::format("input_{}.pb", i);
    if (fs::exists(file)) inputs.emplace_back(model.inputs()[i].graph_name, read_pb(file));
  }
  for (auto& [name, tensor] : model.defaults()) {
    auto given = [&, &key = name](const auto& in) { return in.first == key; };
    if (std::none_of(inputs.begin(), inputs.end(), given)) inputs.emplace_back(name, tensor);
  }
  std::vector<Tensor> outputs = compile(model.graph_for(inputs), options).run(inputs);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Tensor expected = read_pb(set / fmt::format("output_{}.pb", i));
    rows.push_back({fmt::format("{}/{}", set.filename().string(), model.outputs()[i].first),
                    difference(outputs[i], expected, tolerance)});
  }
  return rows;
}

std::vector<Row> check_folder(const VerifyOptions& options, Tolerance tolerance) {
  fs::path folder = options.model.model;
  OnnxModel model = OnnxModel::open((folder / "model.onnx").string());
  std::vector<Row> rows;
  for (const fs::path& set : data_sets(folder))
    for (Row& row : check_set(model, set, options.model.compile_options(), tolerance))
      rows.push_back(std::move(row));
  return rows;
}

// ---- the command

struct Outcome {
  std::vector<Row> rows;
  std::optional<Row> first;  // the first deviating operation
  bool fine() const {
    return std::all_of(rows.begin(), rows.end(),
                       [](const Row& row) { return row.difference.is_fine(); });
  }
};

Outcome check(const VerifyOptions& options, Tolerance tolerance) {
  if (fs::is_directory(options.model.model)) return {check_folder(options, tolerance), {}};
  OnnxModel model = OnnxModel::open(options.model.model);
  auto seed = static_cast<std::uint64_t>(parse_integer("--seed", options.seed, 0, 1ll << 62));
  TensorMap inputs = random_inputs(model, read_inputs(model, options.model.inputs), seed);
  Graph graph = model.graph_for(inputs);
  Comparison comparison(graph, inputs, options.model.compile_options(), tolerance);
  Outcome outcome{comparison.outputs(), {}};
  if (!outcome.fine()) outcome.first = comparison.first_deviation();
  return outcome;
}

Json row_json(const Row& row) {
  const Difference& d = row.difference;
  Json json = {{"name", row.name},
               {"ok", d.is_fine()},
               {"max_abs", d.largest},
               {"max_rel", d.largest_ratio},
               {"outside", d.outside}};
  if (!d.other_type.empty()) json["type"] = d.other_type;
  return json;
}

int verify_model(const VerifyOptions& options) {
  options.model.apply_threads();
  Tolerance tolerance{parse_tolerance("--rtol", options.rtol),
                      parse_tolerance("--atol", options.atol)};
  Outcome outcome = check(options, tolerance);
  if (options.json) {
    Json list = Json::array();
    for (const Row& row : outcome.rows) list.push_back(row_json(row));
    Json json = {{"rtol", tolerance.relative}, {"atol", tolerance.absolute}, {"outputs", list}};
    if (outcome.first) json["first_deviation"] = row_json(*outcome.first);
    print_json(json);
  } else {
    for (const Row& row : outcome.rows)
      print_line(stdout, fmt::format("{}  {}: {}", row.difference.is_fine() ? "ok    " : "FAILED",
                                     row.name, row.difference.describe()));
    if (outcome.first)
      print_line(stdout, fmt::format("the first operation that deviates: {}: {}",
                                     outcome.first->name, outcome.first->difference.describe()));
    print_line(stdout, fmt::format("tolerance: {:g} + {:g} x the expected number",
                                   tolerance.absolute, tolerance.relative));
  }
  return outcome.fine() ? exit_fine : exit_some_failed;
}

}  // namespace

void add_verify(CLI::App& program, Run& run) {
  CLI::App* command =
      program.add_subcommand("verify", "Check a model: fused against unfused, or stored outputs");
  auto options = std::make_shared<VerifyOptions>();
  options->model.add_to(*command);
  auto text = [&](const char* name, std::string& value, const char* type, const char* help) {
    command->add_option(name, value, help)->type_name(type);
  };
  text("--rtol", options->rtol, "X", "Allowed difference as a part of the number (1e-3)");
  text("--atol", options->atol, "X", "Allowed difference beside it (1e-3)");
  text("--seed", options->seed, "N", "Of random inputs (1)");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->footer(examples);
  command->callback([options, &run] { run = [options] { return verify_model(*options); }; });
}

}  // namespace fuseline::cli
