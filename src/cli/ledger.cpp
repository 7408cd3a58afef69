// fuseline ledger: the runs that bench has kept.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "base/fail.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/ledger_text.hpp"
#include "cli/parse.hpp"
#include "cli/terminal.hpp"
#include "ledger/report.hpp"
#include "ledger/text.hpp"

namespace fuseline::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* examples =
    "Examples:\n"
    "  fuseline ledger list                     newest first\n"
    "  fuseline ledger show last                the report once more\n"
    "  fuseline ledger show 12 --html run.html  as one page that needs no network\n"
    "  fuseline ledger history last             the same commands over time\n"
    "  fuseline ledger export -o all.json       every run with its measurements\n"
    "  fuseline ledger export last --chrome-trace run.json    for Chrome or Perfetto\n"
    "  fuseline ledger prune --keep 20          named runs always stay\n"
    "A run is a number, a name, last or last~N. FUSELINE_LEDGER names the file.";

struct LedgerOptions {
  bool json = false;
  std::string most = "20", keep = "50", run = "last", html, output, chrome_trace;
  std::vector<std::string> runs;
};

Json head_json(const RunHead& head) {
  return {{"id", head.id},
          {"name", head.name},
          {"created", head.created},
          {"command", head.command},
          {"verdict", head.verdict.empty() ? Json(nullptr) : Json(head.verdict)},
          {"median_ms", head.median_ms},
          {"runs", head.runs}};
}

int list_runs(const LedgerOptions& options) {
  auto most = static_cast<std::size_t>(parse_integer("-n", options.most, 1, 1'000'000));
  std::vector<RunHead> heads = open_ledger(Ledger::Mode::read).list(most);
  if (options.json) {
    Json all = Json::array();
    for (const RunHead& head : heads) all.push_back(head_json(head));
    print_json(all);
    return exit_fine;
  }
  if (heads.empty())
    print_line(stdout, "The ledger is empty; `fuseline bench -- COMMAND` adds a run.");
  for (const RunHead& head : heads) {
    std::string what = head.name.empty() ? head.command : head.name + ": " + head.command;
    print_line(stdout,
               trimmed(fmt::format("{:>5} {:.10} {:>9} {:<12} {}", head.id, head.created,
                                   time_text(head.median_ms), head.verdict, cut(what, 40))));
  }
  return exit_fine;
}

void write_file(const fs::path& path, const std::string& text) {
  fs::path temporary = path.string() + "." + std::to_string(::getpid()) + ".tmp";
  std::ofstream out(temporary, std::ios::binary);
  out << text;
  out.close();
  std::error_code error;
  if (out) {
    fs::rename(temporary, path, error);
    if (!error) return;
  }
  std::string why = error ? error.message() : std::strerror(errno);
  fs::remove(temporary, error);
  fail("{}: cannot be written: {}", path.string(), why);
}

std::vector<RunRecord> history_of(const Ledger& ledger, std::int64_t id) {
  std::vector<RunRecord> records;
  for (std::int64_t one : ledger.same_series(id)) records.push_back(ledger.load(one));
  return records;
}

int show_run(const LedgerOptions& options) {
  Ledger ledger = open_ledger(Ledger::Mode::read);
  RunRecord record = ledger.load(find_run(ledger, options.run));
  if (!options.html.empty())
    write_file(options.html, report_html(record, history_of(ledger, record.id)));
  if (options.json)
    print_json(report_json(record));
  else if (options.html.empty())
    print_line(stdout, report_text(record) + kept_text(record));
  else
    print_line(stdout, fmt::format("run {} -> {}", record.id, options.html));
  return exit_fine;
}

// One line a stage: the medians of the last side over time.
int show_history(const LedgerOptions& options) {
  Ledger ledger = open_ledger(Ledger::Mode::read);
  std::vector<RunRecord> records = history_of(ledger, find_run(ledger, options.run));
  std::vector<std::string> names = records.back().last().series.row_names;
  auto medians = [&](const std::string& name) {
    std::vector<double> values;
    for (const RunRecord& record : records) {
      const Series& series = record.last().series;
      values.push_back(median(name == "end to end" ? series.wall : series.row(name)));
    }
    return values;
  };
  names.emplace_back("end to end");
  if (options.json) {
    Json ids = Json::array(), stages = Json::object();
    for (const RunRecord& record : records) ids.push_back(record.id);
    for (const std::string& name : names) stages[name] = medians(name);
    print_json({{"unit", "ms"}, {"runs", std::move(ids)}, {"stages", std::move(stages)}});
    return exit_fine;
  }
  print_line(stdout, wrapped(command_text(records.back().last().command)));
  print_line(stdout,
             fmt::format("{} run{}, {} to {}", records.size(), records.size() == 1 ? "" : "s",
                         records.front().id, records.back().id));
  for (const std::string& name : names) {
    std::vector<double> values = medians(name);
    std::vector<double> shown(values.end() - std::min<std::ptrdiff_t>(std::ssize(values), 30),
                              values.end());
    print_line(stdout,
               fmt::format("{:<16} {:>9} -> {:>9}  {}", cut(name, 16), time_text(values.front()),
                           time_text(values.back()), sparkline(shown)));
  }
  return exit_fine;
}

Json export_json(const RunRecord& record) {
  Json json = {{"id", record.id}};
  json.update(meta_json(record));
  Json columns = Json::array();
  for (const Column& column : columns_of(record))
    columns.push_back({{"side", column.side}, {"name", column.name}, {"values", column.values}});
  json["columns"] = std::move(columns);
  return json;
}

// The typical runs of one entry on a timeline.
int export_trace(const LedgerOptions& options, const Ledger& ledger) {
  if (options.runs.size() > 1)
    fail("--chrome-trace writes one run; {} were named", options.runs.size());
  std::string word = options.runs.empty() ? "last" : options.runs.front();
  RunRecord record = ledger.load(find_run(ledger, word));
  Json trace = chrome_trace(record);
  write_file(options.chrome_trace, json_text(trace, -1) + "\n");
  if (options.json)
    print_json({{"run", record.id},
                {"events", trace["traceEvents"].size()},
                {"file", options.chrome_trace}});
  else
    print_line(stdout, fmt::format("run {} -> {}", record.id, options.chrome_trace));
  return exit_fine;
}

int export_runs(const LedgerOptions& options) {
  Ledger ledger = open_ledger(Ledger::Mode::read);
  if (!options.chrome_trace.empty()) return export_trace(options, ledger);
  std::vector<std::int64_t> ids;
  for (const std::string& word : options.runs) ids.push_back(find_run(ledger, word));
  if (options.runs.empty())
    for (const RunHead& head : ledger.list()) ids.push_back(head.id);
  Json runs = Json::array();
  for (std::int64_t id : ids) runs.push_back(export_json(ledger.load(id)));
  Json all = {{"schema", 1}, {"runs", std::move(runs)}};
  if (options.output.empty()) {
    print_json(all);
    return exit_fine;
  }
  write_file(options.output, json_text(all) + "\n");
  if (options.json)
    print_json({{"runs", ids.size()}, {"file", options.output}});
  else
    print_line(stdout, fmt::format("{} runs -> {}", ids.size(), options.output));
  return exit_fine;
}

int prune_runs(const LedgerOptions& options) {
  auto keep = static_cast<std::size_t>(parse_integer("--keep", options.keep, 0, 1'000'000));
  std::size_t removed = 0;
  if (auto path = ledger_path(); path && fs::exists(*path))
    removed = open_ledger(Ledger::Mode::write).prune(keep);
  if (options.json)
    print_json({{"removed", removed}});
  else
    print_line(stdout, fmt::format("{} run{} removed", removed, removed == 1 ? "" : "s"));
  return exit_fine;
}

}  // namespace

void add_ledger(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("ledger", "The runs that bench has kept");
  command->footer(examples);
  auto options = std::make_shared<LedgerOptions>();
  auto add = [&](const char* name, const char* help, int (*action)(const LedgerOptions&)) {
    CLI::App* sub = command->add_subcommand(name, help);
    sub->add_flag("--json", options->json, "Print the result as JSON");
    sub->callback(
        [options, action, &run] { run = [options, action] { return action(*options); }; });
    return sub;
  };
  auto name_a_run = [&](CLI::App* sub) {
    sub->add_option("RUN", options->run, "A number, a name, last (the default) or last~N")
        ->type_name("");
  };
  add("list", "Runs, newest first", list_runs)
      ->add_option("-n", options->most, "At most N runs (20)")
      ->type_name("N");
  CLI::App* show = add("show", "The report of a run", show_run);
  name_a_run(show);
  show->add_option("--html", options->html, "Write it as a page")->type_name("FILE");
  name_a_run(add("history", "The same commands over time, by stage", show_history));
  CLI::App* all = add("export", "Runs with all measurements as JSON", export_runs);
  all->add_option("RUN", options->runs, "Numbers or names; all runs without any")->type_name("");
  all->add_option("-o,--output", options->output, "Write a file")->type_name("FILE");
  all->add_option("--chrome-trace", options->chrome_trace,
                  "Write a run's spans for chrome://tracing")
      ->type_name("FILE");
  add("prune", "Remove old runs without a name", prune_runs)
      ->add_option("--keep", options->keep, "Runs to keep of each command (50)")
      ->type_name("N");
  command->callback([command, &run] {
    if (command->get_subcommands().empty())
      run = []() -> int { fail("ledger: say what to do: list, show, history, export or prune"); };
  });
}

}  // namespace fuseline::cli
