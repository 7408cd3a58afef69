// fuseline diagnose: what bounds a command, with evidence, ranked by what it could gain.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <thread>

#include "base/fail.hpp"
#include "cli/bench_options.hpp"
#include "cli/bench_runner.hpp"
#include "cli/command.hpp"
#include "cli/diagnose_copies.hpp"
#include "cli/diagnose_frame.hpp"
#include "cli/diagnose_sweep.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/parse.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "ledger/diagnose_report.hpp"
#include "ledger/environment.hpp"
#include "program/device_registry.hpp"

namespace fuseline::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  fuseline diagnose -- mask photo.jpg          what bounds it, and what to do\n"
    "  fuseline diagnose -- ./frame                 any program that marks its stages\n"
    "  fuseline diagnose --what-if kernels=6.6x -- ./frame\n"
    "Stages are marked with fuseline/stage.h (C) or fuseline_stage.py (Python). Of\n"
    "`mask PICTURE` it also runs the pipeline with kernels that do nothing, fused and\n"
    "unfused, and the picture re-encoded in three sizes; no file of yours but the\n"
    "mask that the command itself writes is touched. docs/ledger.md tells more.";

constexpr double most_seconds = 86400;

struct Question {
  std::string stage;
  double factor;
};

struct DiagnoseOptions {
  std::vector<std::string> command, what_if;
  std::string seconds = "10", runs, timeout = "600", kernels = "kernels", per;
  bool json = false;

  void add_to(CLI::App& app) {
    auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
      app.add_option(name, value, help)->type_name(type);
    };
    app.add_option("COMMAND", command, "Behind --: a program or a Fuseline command")->type_name("");
    add("--seconds", seconds, "S", "Time of each experiment, three at most (10)");
    add("--runs", runs, "N", "Exactly N measured runs of the command");
    add("--timeout", timeout, "S", "End a run that takes longer, and fail (600)");
    add("--kernels", kernels, "STAGE", "The marked stage that is kernels (kernels)");
    add("--per", per, "STAGE", "Account the median STAGE of a run, not the process");
    app.add_option("--what-if", what_if, "STAGE=Nx: end to end, were it N times faster")
        ->type_name("Q")
        ->allow_extra_args(false);
    app.add_flag("--json", json, "Print the result as JSON");
  }

  BenchPlan plan() const {
    BenchPlan plan;
    plan.seconds = parse_number("--seconds", seconds, 0.001, most_seconds);
    if (runs.empty()) return plan;
    plan.most_runs = static_cast<std::size_t>(parse_integer("--runs", runs, 2, 10'000'000));
    plan.least_runs = plan.most_runs;
    return plan;
  }

  std::vector<Question> questions() const {
    std::vector<Question> all;
    for (const std::string& text : what_if) {
      std::size_t equals = text.rfind('=');
      if (equals == text.npos || equals == 0)
        fail("--what-if: \"{}\" is not STAGE=Nx, as in kernels=6.6x", text);
      std::string factor = text.substr(equals + 1);
      if (factor.ends_with('x')) factor.pop_back();
      all.push_back({text.substr(0, equals), parse_number("--what-if", factor, 1e-3, 1e9)});
    }
    return all;
  }
};

class PercentBar {
 public:
  explicit PercentBar(const std::string& what) : progress_("% of " + what, 100) {}
  void show(double share) {
    for (; shown_ < static_cast<int>(100 * share); ++shown_) progress_.advance();
  }

 private:
  int shown_ = 0;
  Progress progress_;
};

Observed observe(const std::vector<std::string>& command, BenchRunner& runner, BenchPlan plan) {
  Observed observed;
  std::map<std::string, std::vector<double>> spans;
  RunOnce run = runner.runs_of(command);
  PercentBar bar("the account");
  plan.progress = [&](double share) { bar.show(share); };
  auto counted = [&] {
    RunSample sample = run();
    for (const ClosedAccount::Busy& busy : sample.account.busy)
      spans[busy.stage].push_back(static_cast<double>(busy.spans));
    return sample;
  };
  observed.command = runner.shown(command);
  observed.series = measure_series(counted, plan);
  for (const auto& [stage, counts] : spans) observed.spans[stage] = median(counts);
  observed.processors = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1u));
  return observed;
}

// A stage is asked for by its name; "kernel" is the stage of the kernels, whatever its name.
WhatIf answer(const Observed& observed, const Question& question) {
  bool alias = question.stage == "kernel" && !observed.series.busy.contains("kernel");
  return what_if(observed, alias ? observed.kernels : question.stage, question.factor);
}

// What our own experiments need; for other commands it says why there are none.
Measured<MaskCommand> mask_command(const std::vector<std::string>& command) {
  try {
    return {parse_mask_command(command), {}};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

void experiment(Diagnosis& diagnosis, const Measured<MaskCommand>& mask, BenchRunner& runner,
                BenchPlan plan) {
  if (!mask.value) {
    diagnosis.null_run.why_not = diagnosis.gain.why_not = diagnosis.sweep.why_not = mask.why_not;
    return;
  }
  FrameExperiments frames = measure_frames(*mask.value, plan.seconds, diagnosis.roofline);
  diagnosis.null_run.value = std::move(frames.null_run);
  if (frames.gain.bytes_per_ms > 0)
    diagnosis.gain.value = std::move(frames.gain);
  else
    diagnosis.gain.why_not = "the bandwidth of this device's memory was not measured";
  PercentBar bar("the sizes");
  plan.progress = [&](double share) { bar.show(share); };
  try {
    diagnosis.sweep.value = measure_sweep(*mask.value, runner, plan);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    diagnosis.sweep.why_not = error.what();
  }
}

int run_diagnose(const DiagnoseOptions& options, const std::vector<std::string>& commands) {
  if (options.command.empty())
    fail("diagnose: name a command behind --, as in `fuseline diagnose -- mask photo.jpg`");
  BenchPlan plan = options.plan();
  std::vector<Question> questions = options.questions();
  catch_interrupts();
  plan.between_runs = stop_if_interrupted;
  BenchRunner runner(commands, parse_number("--timeout", options.timeout, 0.001, most_seconds),
                     options.per);
  Diagnosis diagnosis;
  diagnosis.environment = read_environment();
  ConditionsWatch watch;
  diagnosis.observed = observe(options.command, runner, plan);
  diagnosis.observed.kernels = options.kernels;
  for (const Question& question : questions)
    diagnosis.what_ifs.push_back(answer(diagnosis.observed, question));
  // As many threads as the command's kernels have; they are counted when the device is opened.
  Measured<MaskCommand> mask = mask_command(options.command);
  if (mask.value) mask.value->graph.apply_threads();
  int threads = open_device("cpu").target().processors;
  diagnosis.roofline = host_roofline(threads, stop_if_interrupted);
  add_device_copies(diagnosis.roofline, stop_if_interrupted);
  experiment(diagnosis, mask, runner, plan);
  diagnosis.environment["during"] = watch.finish();
  diagnosis.warnings = runner.warnings();
  conclude(diagnosis);
  if (options.json)
    print_json(diagnosis_json(diagnosis));
  else
    print_line(stdout, diagnosis_text(diagnosis));
  return exit_fine;
}

}  // namespace

void add_diagnose(CLI::App& program, Run& run) {
  auto options = std::make_shared<DiagnoseOptions>();
  CLI::App* command =
      program.add_subcommand("diagnose", "What bounds a program, with evidence and advice");
  options->add_to(*command);
  command->footer(examples);
  command->callback([options, &program, &run] {
    run = [options, commands = command_names(program)] { return run_diagnose(*options, commands); };
  });
}

}  // namespace fuseline::cli
