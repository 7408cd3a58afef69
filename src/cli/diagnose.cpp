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
#include "cli/diagnose_frame.hpp"
#include "cli/diagnose_rates.hpp"
#include "cli/diagnose_shapes.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/parse.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "ledger/diagnose_report.hpp"
#include "ledger/environment.hpp"

namespace fuseline::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  fuseline diagnose -- mask photo.jpg          what bounds it, and what to do\n"
    "  fuseline diagnose -- ./frame                 any program that marks its stages\n"
    "  fuseline diagnose --what-if kernels=6.6x -- ./frame\n"
    "  fuseline diagnose --sweep -- mask photo.jpg    launch shapes, threads\n"
    "  fuseline diagnose --per frame --null './frame --empty' -- ./frame\n"
    "Stages are marked with fuseline/stage.h (C) or fuseline_stage.py (Python). Of\n"
    "`mask` and `run` it also runs the pipeline with kernels that do nothing and with\n"
    "none, fused and unfused, and the inputs in three sizes; no file of yours but\n"
    "what the command itself writes is touched. docs/ledger.md tells more.";

constexpr double most_seconds = 86400;

struct Question {
  std::string stage;
  double factor;
};

struct DiagnoseOptions {
  std::vector<std::string> command, what_if;
  std::string seconds = "10", runs, timeout = "600", kernels = "kernels", per, null, no_kernels;
  bool sweep = false, json = false;

  void add_to(CLI::App& app) {
    auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
      app.add_option(name, value, help)->type_name(type);
    };
    app.add_option("COMMAND", command, "Behind --: a program or a Fuseline command")->type_name("");
    add("--seconds", seconds, "S", "Time of each experiment (10)");
    add("--runs", runs, "N", "Exactly N measured runs of the command");
    add("--timeout", timeout, "S", "End a run that takes longer, and fail (600)");
    add("--kernels", kernels, "STAGE", "The marked stage that is kernels (kernels)");
    add("--per", per, "STAGE", "Account the median STAGE of a run, not the process");
    app.add_option("--what-if", what_if, "STAGE=Nx: end to end, were it N times faster")
        ->type_name("Q")
        ->allow_extra_args(false);
    add("--null", null, "WORDS", "Another program: itself with kernels that do nothing");
    add("--no-kernels", no_kernels, "WORDS", "And without kernels and their launches");
    app.add_flag("--sweep", sweep, "Also try launch shapes and registers, or threads");
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

// Runs of another program, and of its versions whose kernels do nothing or are not there, in turn.
NullRun measure_null(const DiagnoseOptions& options, BenchRunner& runner, BenchPlan plan) {
  PercentBar bar("the null run");
  plan.progress = [&](double share) { bar.show(share); };
  std::vector<RunOnce> runs = {runner.runs_of(options.command),
                               runner.runs_of(split_words("--null", options.null))};
  if (!options.no_kernels.empty())
    runs.push_back(runner.runs_of(split_words("--no-kernels", options.no_kernels)));
  std::vector<Series> all = measure_in_turn(runs, plan);
  NullRun run;
  run.frame = options.per.empty() ? "run" : options.per;
  run.real = all[0].wall;
  run.null = all[1].wall;
  if (all.size() > 2) run.no_kernels = all[2].wall;
  run.kernels = all[0].row(options.kernels);
  return run;
}

// What can be told of a program from outside, and why the rest cannot.
void experiment_on_others(Diagnosis& diagnosis, const DiagnoseOptions& options, BenchRunner& runner,
                          const BenchPlan& plan) {
  diagnosis.timed.why_not = "the launches of another program are not ours to record";
  diagnosis.gain.why_not = "another program has no unfused side to compare with";
  diagnosis.sweep.why_not = "which of its words are inputs, and how to shrink them, is not known";
  diagnosis.shapes.why_not = "its kernels cannot be launched in other shapes from outside";
  diagnosis.threads.why_not = "how it is told a number of threads is not known";
  if (options.null.empty())
    diagnosis.null_run.why_not =
        "its kernels cannot be taken out from outside; --null names a program of the same work "
        "whose kernels do nothing";
  else
    diagnosis.null_run.value = measure_null(options, runner, plan);
}

// A command of ours that cannot be taken apart.
void experiment_on_nothing(Diagnosis& diagnosis, const std::string& why) {
  diagnosis.null_run.why_not = diagnosis.timed.why_not = diagnosis.gain.why_not = why;
  diagnosis.sweep.why_not = diagnosis.shapes.why_not = diagnosis.threads.why_not = why;
}

// Why the experiment could not be made; empty where it was.
template <class Work>
std::string attempt(Work work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    return error.what();
  }
}

void experiment(Diagnosis& diagnosis, const DiagnoseOptions& options, Subject& subject,
                BenchRunner& runner, BenchPlan plan) {
  diagnosis.object = subject.object();
  add_launch_costs(diagnosis.roofline, subject.options().device);
  std::string why = attempt([&] { measure_frames(diagnosis, subject, plan.seconds); });
  if (!why.empty())
    diagnosis.null_run.why_not = diagnosis.timed.why_not = diagnosis.gain.why_not = why;
  PercentBar bar("the sizes");
  plan.progress = [&](double share) { bar.show(share); };
  diagnosis.sweep.why_not =
      attempt([&] { diagnosis.sweep.value = subject.measure_sizes(runner, plan); });
  plan.progress = {};
  if (options.sweep) measure_shapes(diagnosis, subject, runner, plan);
}

// The command taken apart; for other programs it says why there is none.
Measured<std::unique_ptr<Subject>> take_apart(const std::vector<std::string>& command) {
  try {
    return {subject_of(command), {}};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

int run_diagnose(const DiagnoseOptions& options, const std::vector<std::string>& commands) {
  if (options.command.empty())
    fail("diagnose: name a command behind --, as in `fuseline diagnose -- mask photo.jpg`");
  if (options.null.empty() && !options.no_kernels.empty())
    fail("--no-kernels needs --null as well");
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
  diagnosis.sweeps_shapes = options.sweep;
  // Sets the threads of the command, before they are counted.
  Measured<std::unique_ptr<Subject>> subject = take_apart(options.command);
  if (is_subject(options.command) && !options.null.empty())
    fail("--null is for other programs: `{}` is taken apart by itself", options.command.front());
  diagnosis.roofline = host_roofline(processors(), stop_if_interrupted);
  bool names_gpu = subject.value && (*subject.value)->options().device.starts_with("cuda:");
  add_gpu_rates(diagnosis.roofline, names_gpu ? (*subject.value)->options().device : "cuda",
                stop_if_interrupted);
  if (subject.value)
    experiment(diagnosis, options, **subject.value, runner, plan);
  else if (is_subject(options.command))
    experiment_on_nothing(diagnosis, subject.why_not);
  else
    experiment_on_others(diagnosis, options, runner, plan);
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
