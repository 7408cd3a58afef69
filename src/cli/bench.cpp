// fuseline bench: measures any program, alone or one variant against another.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <memory>

#include "base/fail.hpp"
#include "cli/bench_options.hpp"
#include "cli/bench_runner.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/ledger_text.hpp"
#include "cli/parse.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "ledger/environment.hpp"
#include "ledger/outlook.hpp"
#include "ledger/report.hpp"
#include "ledger/store.hpp"

namespace fuseline::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  fuseline bench -- ./server --once            any program\n"
    "  fuseline bench -- mask photo.jpg             a Fuseline command\n"
    "  fuseline bench --before '--fusion off' --after '--fusion on' -- mask a.jpg\n"
    "  fuseline bench --before ./old --after ./new  two programs\n"
    "  fuseline bench --rate poisson:20 --target 33ms -- ./frame\n"
    "Runs alternate in random order; FASTER and SLOWER are only said of effects above\n"
    "the threshold and above the noise between equal runs. Programs mark stages with\n"
    "fuseline/stage.h (C) or fuseline_stage.py (Python); docs/ledger.md tells how.\n"
    "Exit codes: 0 measured, 2 bad usage or a command that failed, 130 interrupted;\n"
    "with --gate also 1 slower or target not met, 4 inconclusive.";

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::vector<std::string> output_warnings(const RunRecord& record) {
  std::vector<std::string> lines;
  for (const RunSide& side : record.sides)
    if (side.series.different_outputs)
      lines.push_back(fmt::format("{}: {} of {} runs wrote another output than the first",
                                  side.label, side.series.different_outputs,
                                  side.series.wall.size() + side.series.warm_up.size()));
  if (lines.empty() && record.two_sided() &&
      record.sides[0].series.output_hash != record.sides[1].series.output_hash)
    lines.emplace_back("before and after write different outputs");
  return lines;
}

class PercentBar {
 public:
  void show(double share) {
    for (; shown_ < static_cast<int>(100 * share); ++shown_) progress_.advance();
  }

 private:
  int shown_ = 0;
  Progress progress_{"% of the time", 100};
};

void measure(RunRecord& record, const BenchOptions& options, BenchRunner& runner) {
  BenchPlan plan = options.plan();
  PercentBar bar;
  plan.between_runs = stop_if_interrupted;
  plan.progress = [&](double share) { bar.show(share); };
  if (record.two_sided()) {
    SideBySide sides = measure_side_by_side(runner.runs_of(record.sides[0].command),
                                            runner.runs_of(record.sides[1].command), plan);
    record.sides[0].series = std::move(sides.before);
    record.sides[1].series = std::move(sides.after);
    return;
  }
  RunOnce run = runner.runs_of(record.sides[0].command);
  if (auto load = options.load()) {
    std::vector<double> starts =
        arrival_times(load->arrivals, load->per_second, plan.seconds, plan.seed);
    if (starts.size() > plan.most_runs) starts.resize(plan.most_runs);
    record.sides[0].series = measure_load(run, starts, plan);
  } else {
    record.sides[0].series = measure_series(run, plan);
  }
}

RunRecord take_record(const BenchOptions& options, BenchRunner& runner) {
  RunRecord record;
  record.name = options.name;
  record.created = utc_now();
  record.sides = options.sides();
  record.settings = options.settings();
  record.environment = read_environment();
  ConditionsWatch watch;
  measure(record, options, runner);
  record.environment["during"] = watch.finish();
  for (RunSide& side : record.sides) side.command = runner.shown(side.command);
  record.warnings = runner.warnings();
  for (std::string& line : output_warnings(record)) record.warnings.push_back(std::move(line));
  return record;
}

int gate_code(const RunRecord& record) {
  if (auto deadline = deadline_of(record); deadline && !deadline->met) return exit_some_failed;
  return verdict_exit_code(verdict_of(record));
}

// The report goes out before the ledger can fail, so that nothing measured is lost.
void keep(RunRecord& record, const BenchOptions& options, const std::string& verdict) {
  auto path = options.no_store ? std::nullopt : ledger_path();
  if (!path) return;
  Ledger ledger(*path, Ledger::Mode::write);
  record.id = ledger.add(record, verdict);
}

int run_bench(const BenchOptions& options, const std::vector<std::string>& commands) {
  options.sides();
  options.settings();
  options.load();
  catch_interrupts();
  BenchRunner runner(commands, options.timeout_seconds(), options.per);
  RunRecord record = take_record(options, runner);
  if (std::vector<std::string> changed = output_warnings(record);
      options.same_output && !changed.empty())
    fail("{} (--same-output)", changed.front());
  auto verdict = verdict_of(record);
  std::exception_ptr not_kept;
  try {
    keep(record, options, verdict ? std::string(name_of(*verdict)) : "");
  } catch (const Error&) {
    not_kept = std::current_exception();
  }
  if (options.json)
    print_json(report_json(record));
  else
    print_line(stdout, report_text(record) + kept_text(record));
  if (not_kept) std::rethrow_exception(not_kept);
  return options.gate ? gate_code(record) : exit_fine;
}

}  // namespace

void add_bench(CLI::App& program, Run& run) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command =
      program.add_subcommand("bench", "Measure a program, or one variant against another");
  options->add_to(*command);
  command->footer(examples);
  command->callback([options, &program, &run] {
    run = [options, commands = command_names(program)] { return run_bench(*options, commands); };
  });
}

}  // namespace fuseline::cli
