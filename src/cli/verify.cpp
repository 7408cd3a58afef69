// fuseline verify: a model's program against its unfused fp32 one, or against expected outputs.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <set>

#include "base/fail.hpp"
#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/model_inputs.hpp"
#include "cli/parse.hpp"
#include "cli/terminal.hpp"
#include "cli/verify_calls.hpp"
#include "cli/verify_folder.hpp"
#include "cli/verify_model.hpp"
#include "cli/verify_suggest.hpp"

namespace fuseline::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* examples =
    "Examples:\n"
    "  fuseline verify model.onnx                  fused against unfused\n"
    "  fuseline verify model.onnx --input x=x.npy  the same, not on random numbers\n"
    "  fuseline verify model.onnx --precision bf16 --rtol 0.05 --atol 0.05 --suggest\n"
    "  fuseline verify FOLDER                      model.onnx, test_data_set_0, ...\n"
    "A number passes within atol + rtol times the reference. Exit codes: 0 all pass,\n"
    "1 some do not, 2 bad usage or input, 3 no such device.";

constexpr std::size_t most_lines = 40;

struct VerifyOptions {
  ModelOptions model;
  std::string rtol = "1e-3", atol = "1e-3", seed = "1";
  bool nodes = false;
  bool suggest = false;
  bool json = false;
};

double parse_tolerance(const char* name, const std::string& text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0))
    fail("{} {}: a number from 0 on is needed", name, text);
  return value;
}

struct Suggestion {
  std::vector<std::string> keep;
  std::size_t of = 0;   // nodes that were candidates
  std::string problem;  // not empty: keeping nodes does not help
};

struct Outcome {
  std::vector<CheckRow> rows;
  bool compared_nodes = false;
  std::vector<CheckRow> nodes;
  std::vector<CallCheck> calls;
  std::optional<Suggestion> suggestion;
  bool fine() const {
    return all_fine(rows) && std::all_of(calls.begin(), calls.end(),
                                         [](const CallCheck& call) { return call.wrong == 0; });
  }
  const CheckRow* first_deviation() const {
    for (const CheckRow& row : nodes)
      if (!row.difference.is_fine()) return &row;
    return nullptr;
  }
};

// ---- which nodes to keep

// Nodes of the model with f32 results, in its order.
std::vector<std::string> candidates(const Graph& graph) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Node& node : graph.nodes())
    if (graph.type(node.output).dtype == DType::f32 && !node.origin.empty() &&
        seen.insert(node.origin).second)
      names.push_back(node.origin);
  return names;
}

Suggestion suggest(const Graph& graph, const ModelCheck& check, const CompileOptions& options) {
  std::vector<std::string> nodes = candidates(graph);
  Suggestion suggestion{{}, nodes.size(), {}};
  int attempt = 0;
  auto passes = [&](const std::vector<std::string>& kept) {
    CompileOptions tried = options;
    tried.keep_fp32.insert(tried.keep_fp32.end(), kept.begin(), kept.end());
    bool fine = all_fine(check.outputs(tried));
    print_line(stderr, fmt::format("attempt {}: {} of {} nodes in fp32: {}", ++attempt, kept.size(),
                                   suggestion.of, fine ? "passes" : "fails"));
    return fine;
  };
  if (!passes(nodes)) {
    suggestion.problem =
        "the check fails with all nodes in fp32 too: the precision is not the reason";
    return suggestion;
  }
  suggestion.keep = smallest_kept(std::move(nodes), passes);
  return suggestion;
}

std::string option_line(const Suggestion& suggestion, const std::string& precision) {
  std::string line = "--precision " + precision;
  for (const std::string& name : suggestion.keep) {
    bool plain = name.find_first_of(" '\"\\$&|;<>()*?[]#~`!{}") == name.npos;
    line += " --keep-fp32 " + (plain ? name : "'" + name + "'");
  }
  return line;
}

// ---- the check

Outcome check_model(const VerifyOptions& options, const CompileOptions& compile_options,
                    Tolerance tolerance) {
  ModelFile model = ModelFile::open(options.model.model, compile_options);
  const OnnxModel& onnx = model.need_onnx("verify");
  auto seed = static_cast<std::uint64_t>(parse_integer("--seed", options.seed, 0, 1ll << 62));
  ModelInputs given = read_inputs(model, options.model);
  if (!options.json)
    for (const std::string& remark : given.remarks) print_line(stdout, remark);
  TensorMap inputs =
      random_inputs(model, given.tensors, read_sizes(model, options.model.sizes), seed);
  Graph graph = onnx.graph_for(inputs);
  ModelCheck check(graph, inputs, compile_options, tolerance);
  Outcome outcome;
  outcome.rows = check.outputs();
  bool fine = all_fine(outcome.rows);
  if (!fine || options.nodes) {
    outcome.compared_nodes = true;
    outcome.nodes = check.nodes();
  }
  outcome.calls = check_calls(compile(graph, compile_options), inputs, compile_options, seed);
  if (options.suggest)
    outcome.suggestion = fine ? Suggestion{} : suggest(graph, check, compile_options);
  return outcome;
}

Outcome check(const VerifyOptions& options, Tolerance tolerance) {
  CompileOptions compile_options = options.model.compile_options();
  if (options.suggest && compile_options.precision == Precision::fp32)
    fail("--suggest: it looks for nodes to keep in fp32; add --precision bf16 or fp16");
  if (!fs::is_directory(options.model.model))
    return check_model(options, compile_options, tolerance);
  if (options.suggest || options.nodes || !options.model.inputs.empty())
    fail(
        "{}: a folder of tests has its own inputs and outputs; --input, --nodes and --suggest "
        "go with a model file",
        options.model.model);
  Outcome outcome;
  outcome.rows = check_folder(options.model.model, compile_options, tolerance);
  return outcome;
}

// ---- printing

Json row_json(const CheckRow& row) {
  const Difference& d = row.difference;
  Json json = {{"name", row.name},
               {"ok", d.is_fine()},
               {"max_abs", d.largest},
               {"max_rel", d.largest_ratio},
               {"outside", d.outside}};
  if (d.is_float) json["max_ulp"] = d.largest_ulp;
  if (!d.other_type.empty()) json["problem"] = d.other_type;
  return json;
}

Json rows_json(const std::vector<CheckRow>& rows) {
  Json list = Json::array();
  for (const CheckRow& row : rows) list.push_back(row_json(row));
  return list;
}

void print_outcome_json(const Outcome& outcome, const VerifyOptions& options, Tolerance tolerance) {
  Json json = {{"rtol", tolerance.relative},
               {"atol", tolerance.absolute},
               {"precision", options.model.precision},
               {"ok", outcome.fine()},
               {"outputs", rows_json(outcome.rows)}};
  json["library_calls"] = Json::array();
  for (const CallCheck& call : outcome.calls)
    json["library_calls"].push_back({{"name", call.name},
                                     {"points", call.points},
                                     {"wrong", call.wrong},
                                     {"first", call.first}});
  if (outcome.compared_nodes) json["nodes"] = rows_json(outcome.nodes);
  if (const CheckRow* first = outcome.first_deviation()) json["first_deviation"] = row_json(*first);
  if (const auto& s = outcome.suggestion) {
    json["suggestion"] = {{"keep_fp32", s->keep},
                          {"of", s->of},
                          {"options", option_line(*s, options.model.precision)}};
    if (!s->problem.empty()) json["suggestion"]["problem"] = s->problem;
  }
  print_json(json);
}

void print_rows(const std::vector<CheckRow>& rows, bool all) {
  for (const CheckRow& row : rows)
    if (all || !row.difference.is_fine())
      print_line(stdout, fmt::format("{}  {}: {}", row.difference.is_fine() ? "ok    " : "FAILED",
                                     row.name, row.difference.describe()));
}

void print_nodes(const Outcome& outcome, bool listed) {
  if (!outcome.compared_nodes) return;
  print_line(stdout,
             fmt::format("nodes whose results are stored, compared: {}", outcome.nodes.size()));
  if (listed) print_rows(outcome.nodes, true);
  if (const CheckRow* first = outcome.first_deviation())
    print_line(stdout, fmt::format("the first node that deviates: {}: {}", first->name,
                                   first->difference.describe()));
  else if (!all_fine(outcome.rows))
    print_line(stdout,
               "none of them deviates while all are outputs: what deviates is never stored");
}

void print_calls(const std::vector<CallCheck>& calls) {
  if (calls.empty()) return;
  std::int64_t points = 0;
  for (const CallCheck& call : calls) {
    points += call.points;
    if (call.wrong)
      print_line(stdout, fmt::format("FAILED  library call {}: {} of {} points, the first {}",
                                     call.name, call.wrong, call.points, call.first));
  }
  print_line(stdout, fmt::format("library calls checked against their definition: {}, at {} points",
                                 calls.size(), points));
}

void print_suggestion(const Suggestion& s, const std::string& precision) {
  if (!s.problem.empty()) return print_line(stdout, s.problem);
  if (s.keep.empty()) return print_line(stdout, "no node needs to stay in fp32");
  print_line(stdout, fmt::format("to pass, {} of {} nodes stay in fp32; none of them can be left "
                                 "out. Use\n  {}",
                                 s.keep.size(), s.of, option_line(s, precision)));
}

int verify_model(const VerifyOptions& options) {
  options.model.apply_threads();
  Tolerance tolerance{parse_tolerance("--rtol", options.rtol),
                      parse_tolerance("--atol", options.atol)};
  Outcome outcome = check(options, tolerance);
  bool fine = outcome.fine();
  if (options.json) {
    print_outcome_json(outcome, options, tolerance);
    return fine ? exit_fine : exit_some_failed;
  }
  print_rows(outcome.rows, outcome.rows.size() <= most_lines);
  if (outcome.rows.size() > most_lines) {
    auto ok = std::count_if(outcome.rows.begin(), outcome.rows.end(),
                            [](const CheckRow& row) { return row.difference.is_fine(); });
    print_line(stdout, fmt::format("{} of {} are ok", ok, outcome.rows.size()));
  }
  print_nodes(outcome, options.nodes);
  print_calls(outcome.calls);
  if (outcome.suggestion) print_suggestion(*outcome.suggestion, options.model.precision);
  print_line(stdout, fmt::format("tolerance: atol {:g} + rtol {:g} x the reference",
                                 tolerance.absolute, tolerance.relative));
  return fine ? exit_fine : exit_some_failed;
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
  command->add_flag("--nodes", options->nodes, "Compare all stored nodes, also if outputs pass");
  command->add_flag("--suggest", options->suggest, "Find the fewest --keep-fp32 that pass");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->footer(examples);
  command->callback([options, &run] { run = [options] { return verify_model(*options); }; });
}

}  // namespace fuseline::cli
