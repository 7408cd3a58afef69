// fuseline bench: measures any program, alone or one variant against another.

#include <algorithm>
#include <memory>

#include "cli/bench_finish.hpp"
#include "cli/bench_kernel.hpp"
#include "cli/bench_null.hpp"
#include "cli/bench_runner.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/parse.hpp"
#include "ledger/environment.hpp"

namespace fuseline::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  fuseline bench -- ./server --once            any program\n"
    "  fuseline bench -- mask photo.jpg             a Fuseline command\n"
    "  fuseline bench --before '--fusion off' --after '--fusion on' -- mask a.jpg\n"
    "  fuseline bench --before ./old --after ./new  two programs\n"
    "  fuseline bench --after K.cu -- mask a.jpg    somebody's kernel against ours\n"
    "  fuseline bench --rate poisson:20 --target 33ms -- ./frame\n"
    "Runs alternate in random order; FASTER and SLOWER are only said of effects above\n"
    "the threshold and above the noise between equal runs. Programs mark stages with\n"
    "fuseline/stage.h (C) or fuseline_stage.py (Python), or have NVTX ranges, which\n"
    "count where no stage is marked; docs/ledger.md tells more.\n"
    "Exit codes: 0 measured, 1 K.cu fails its check, 2 bad usage or a command that\n"
    "failed, 3 K.cu without a GPU to time it on, 130 interrupted; with --gate also 1\n"
    "slower or target not met, 4 inconclusive.";

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

// Beside the ceiling by arithmetic stands a measured one, where the kernels are ours.
NullKernels null_kernels_of(const RunRecord& record, const BenchOptions& options) {
  constexpr double most_seconds = 5, share = 0.2;
  if (!options.per.empty()) return {std::nullopt, "a run is one " + options.per + " here"};
  return measure_null_kernels(record.sides[0].command,
                              std::min(most_seconds, share * options.plan().seconds));
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
  record.null_kernels = null_kernels_of(record, options);
  if (runner.stages_are_ranges()) record.environment["stages"] = "NVTX ranges";
  for (RunSide& side : record.sides) side.command = runner.shown(side.command);
  record.warnings = runner.warnings();
  for (std::string& line : output_warnings(record)) record.warnings.push_back(std::move(line));
  return record;
}

int run_bench(const BenchOptions& options, const std::vector<std::string>& commands) {
  if (options.kernels_to_compare()) return bench_kernels(options);
  options.sides();
  options.settings();
  options.load();
  catch_interrupts();
  BenchRunner runner(commands, options.timeout_seconds(), options.per);
  RunRecord record = take_record(options, runner);
  return finish_bench(record, options);
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
