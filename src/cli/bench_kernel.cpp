// Checks kernels, then frames with them in the same book as every other measurement.
#include "cli/bench_kernel.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "base/fail.hpp"
#include "cli/bench_finish.hpp"
#include "cli/bench_kernel_frames.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/kernel_files.hpp"
#include "cli/kernel_report.hpp"
#include "cli/terminal.hpp"
#include "foreign/check.hpp"
#include "ledger/environment.hpp"

namespace fuseline::cli {
namespace {

struct Checked {
  std::string file;
  foreign::Report report;
};

MaskCommand pipeline_of(const BenchOptions& options, const std::string& file) {
  if (options.command.empty() || options.command.front() != "mask")
    fail("bench: {} is measured in a pipeline of ours; add -- mask PICTURE", file);
  try {
    MaskCommand command = parse_mask_command(options.command);
    const std::vector<std::string>& inputs = command.files.inputs;
    if (inputs.size() != 1 || !std::filesystem::is_regular_file(inputs.front()))
      fail("it is measured on one picture");
    return command;
  } catch (const Error& error) {
    fail("bench --after {}: {}", file, error.what());
  }
}

std::string device_of(const MaskCommand& command) {
  if (command.graph.device == "cpu")
    fail("bench: a kernel in CUDA cannot be timed on the CPU; leave out --device cpu");
  return command.graph.device;
}

Checked check(const std::string& file, const foreign::Contract& contract,
              const std::string& device) {
  foreign::CheckOptions settings;
  settings.device = device;
  return {file, foreign::check_kernel(read_kernel_text(file), file, contract, settings)};
}

void print_check(const Checked& checked, const foreign::Contract& contract, bool json) {
  if (json)
    print_json(report_json(checked.report, contract, checked.file));
  else
    print_report(checked.report, contract, checked.file);
}

// What the trust box says of a kernel.
Json check_json(const Checked& checked) {
  return {{"file", checked.file},
          {"runs", checked.report.runs},
          {"ran_on", checked.report.runner},
          {"registers", checked.report.compiled.registers ? Json(*checked.report.compiled.registers)
                                                          : Json(nullptr)}};
}

int gpu_index(const std::string& device) {
  std::size_t colon = device.find(':');
  return colon == device.npos ? 0 : std::stoi(device.substr(colon + 1));
}

RunRecord measure(const BenchOptions& options, const MaskCommand& command,
                  const foreign::Contract& contract, const std::optional<Checked>& before,
                  const Checked& after, int index) {
  RunRecord record;
  record.name = options.name;
  record.created = utc_now();
  record.settings = options.settings();
  record.settings.kernels = kernels_stage;
  record.environment = read_environment();
  Json checks = Json::array();
  if (before) checks.push_back(check_json(*before));
  checks.push_back(check_json(after));
  record.environment["kernel_checks"] = std::move(checks);
  auto words = [&](const std::string& who) {
    std::vector<std::string> all = {who};
    all.insert(all.end(), options.command.begin(), options.command.end());
    return all;
  };
  record.sides = {{"before",
                   before ? before->file : "our kernel",
                   words(before ? before->file : "fuseline"),
                   {}},
                  {"after", after.file, words(after.file), {}}};
  KernelFrames frames(command, contract, index);
  if (before)
    frames.add(before->report);
  else
    frames.add_ours();
  frames.add(after.report);
  BenchPlan plan = options.plan();
  PercentBar bar;
  plan.between_runs = stop_if_interrupted;
  plan.progress = [&](double share) { bar.show(share); };
  ConditionsWatch watch;
  SideBySide sides =
      measure_side_by_side([&] { return frames.run(0); }, [&] { return frames.run(1); }, plan);
  record.environment["during"] = watch.finish();
  record.sides[0].series = std::move(sides.before);
  record.sides[1].series = std::move(sides.after);
  record.null_kernels.why_not = "hand-written kernels have no null form";
  record.warnings = output_warnings(record);
  return record;
}

}  // namespace

int bench_kernels(const BenchOptions& options) {
  KernelFiles files = *options.kernels_to_compare();
  options.settings();
  options.plan();
  MaskCommand command = pipeline_of(options, files.after);
  std::string device = device_of(command);
  MaskSettings settings = frame_settings(command);
  foreign::Contract contract = foreign::contract_of(mask_graph(settings), "mask");
  catch_interrupts();
  std::optional<Checked> before;
  if (!files.before.empty()) before = check(files.before, contract, device);
  Checked after = check(files.after, contract, device);
  for (const Checked* one : {before ? &*before : nullptr, &after})
    if (one && !one->report.passed()) {
      print_check(*one, contract, options.json);
      return exit_some_failed;
    }
  std::string reason;
  if (foreign::cuda_architecture(gpu_index(device), &reason) == 0) {
    print_check(after, contract, options.json);
    fail_device("bench: {} keeps the contract on the host simulator, but timing it needs a GPU: {}",
                files.after, reason);
  }
  RunRecord record = measure(options, command, contract, before, after, gpu_index(device));
  return finish_bench(record, options);
}

}  // namespace fuseline::cli
