// fuseline kernel: the contract of a pipeline for a kernel written by somebody else, and its check.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/fail.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/kernel_files.hpp"
#include "cli/kernel_report.hpp"
#include "cli/mask_options.hpp"
#include "cli/parse.hpp"
#include "cli/terminal.hpp"
#include "foreign/check.hpp"
#include "foreign/contract_text.hpp"

namespace fuseline::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  fuseline kernel spec mask                       what a kernel must do\n"
    "  fuseline kernel spec mask --skeleton mask.cu    a text to start from\n"
    "  fuseline kernel check mask.cu mask              is it right?\n"
    "  fuseline kernel check k.cu chain.graph          of a graph text\n"
    "PIPELINE is mask, or a file with a graph text (docs/graph-text.md).";

struct KernelOptions {
  std::string pipeline;
  MaskGraphOptions mask;
  std::string channels = "3";
  std::string file;
  std::string skeleton;
  std::string arch;
  bool json = false;
  CLI::App* app = nullptr;

  void add_pipeline(CLI::App& command) {
    app = &command;
    command.add_option("PIPELINE", pipeline, "mask, or a graph text file")->type_name("");
    auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
      command.add_option(name, value, help)->type_name(type);
    };
    add("--threshold", mask.threshold, "N", "mask: set the pixels above N (127)");
    add("--gray,--grey", mask.gray, "MODE", "mask: bt601_q15 (default), bt601_q16, bt709");
    command.add_flag("--invert", mask.invert, "mask: set the pixels that are not above");
    command.add_flag("--area-only", mask.area_only, "mask: count the set pixels only");
    add("--channels", channels, "N", "mask: 1, 3 (the default) or 4");
    command.add_flag("--json", json, "Print the result as JSON");
    command.footer(examples);
  }

  void refuse_mask_options() const {
    for (const char* name : {"--threshold", "--gray", "--invert", "--area-only", "--channels"})
      if (app->count(name)) fail("{} belongs to mask; {} is a graph text", name, pipeline);
  }

  foreign::Contract contract() const {
    if (pipeline.empty()) fail("kernel: name the pipeline: mask, or a graph text file");
    if (pipeline != "mask") {
      if (!std::filesystem::exists(pipeline))
        fail("kernel: {} is neither a pipeline (mask) nor a file", pipeline);
      refuse_mask_options();
      Graph graph = read_graph(pipeline);
      return foreign::contract_of(std::move(graph), std::filesystem::path(pipeline).stem());
    }
    MaskSettings settings = mask.settings();
    settings.channels = static_cast<int>(parse_integer("--channels", channels, 1, 4));
    return foreign::contract_of(mask_graph(settings), "mask");
  }
};

int print_spec(const KernelOptions& options) {
  foreign::Contract contract = options.contract();
  if (!options.skeleton.empty())
    write_new_file(options.skeleton, foreign::skeleton_of(contract, options.pipeline));
  if (options.json) {
    print_json(foreign::json_of(contract));
    return exit_fine;
  }
  if (options.skeleton.empty()) {
    std::string text = foreign::text_of(contract);
    text.pop_back();
    print_line(stdout, text);
    return exit_fine;
  }
  print_line(stdout, fmt::format("{}: a start; `fuseline kernel check {} {}` checks it",
                                 options.skeleton, options.skeleton, options.pipeline));
  return exit_fine;
}

int architecture(const std::string& word) {
  if (word.empty()) return 0;
  std::string digits = word.starts_with("sm_") ? word.substr(3) : word;
  return static_cast<int>(parse_integer("--arch", digits, foreign::minimum_sm, 999));
}

int check(const KernelOptions& options) {
  if (options.file.empty()) fail("kernel check: name the file of the kernel and the pipeline");
  foreign::Contract contract = options.contract();
  std::string text = read_kernel_text(options.file);
  foreign::CheckOptions settings;
  settings.device = options.mask.device;
  if (!settings.device.starts_with("cuda:"))
    parse_choice("--device", settings.device, {"auto", "cpu", "cuda"});
  settings.sm = architecture(options.arch);
  foreign::Report report = foreign::check_kernel(text, options.file, contract, settings);
  if (options.json)
    print_json(report_json(report, contract, options.file));
  else
    print_report(report, contract, options.file);
  return report.passed() ? exit_fine : exit_some_failed;
}

}  // namespace

void add_kernel(CLI::App& program, Run& run) {
  CLI::App* command =
      program.add_subcommand("kernel", "Anybody's kernel: its contract, and whether it keeps it");
  command->footer(examples);
  command->require_subcommand(0, 1);
  auto options = std::make_shared<KernelOptions>();
  CLI::App* spec = command->add_subcommand("spec", "What a kernel of the pipeline must do");
  options->add_pipeline(*spec);
  spec->add_option("--skeleton", options->skeleton, "Write a text to start from, a new file")
      ->type_name("K.cu");
  spec->callback([options, &run] { run = [options] { return print_spec(*options); }; });

  auto checked = std::make_shared<KernelOptions>();
  CLI::App* check_command =
      command->add_subcommand("check", "Compile, run and compare a kernel of the pipeline");
  check_command->add_option("K.cu", checked->file, "The kernel's text, CUDA C++")->type_name("");
  checked->add_pipeline(*check_command);
  check_command->add_option("--device", checked->mask.device, "auto (default), cuda, cuda:N or cpu")
      ->type_name("NAME");
  check_command->add_option("--arch", checked->arch, "The device's, or sm_90 without one")
      ->type_name("SM");
  check_command->callback([checked, &run] { run = [checked] { return check(*checked); }; });
  command->callback([command, &run] {
    if (command->get_subcommands().empty())
      run = []() -> int { fail("kernel: say what to do: spec or check"); };
  });
}

}  // namespace fuseline::cli
