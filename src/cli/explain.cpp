// fuseline explain: what a command's graph became, and why.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/fail.hpp"
#include "base/json.hpp"
#include "base/nearest.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/explain_model.hpp"
#include "cli/kernel_text.hpp"
#include "cli/mask_options.hpp"
#include "cli/parse.hpp"
#include "cli/terminal.hpp"

namespace fuseline::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  fuseline explain model.onnx          library calls, Regions, memory\n"
    "  fuseline explain model.onnx --size batch=8 --precision bf16\n"
    "  fuseline explain mask                Regions, plans, reasons of the borders\n"
    "  fuseline explain mask --fusion off   the same, one kernel for each operation\n"
    "  fuseline explain mask --kernels      with Loop IR, LLVM IR and CUDA C";

struct ExplainOptions {
  ModelOptions model;
  MaskGraphOptions graph;
  std::string channels = "3";
  bool kernels = false;
  bool json = false;
};

int explain_mask(const ExplainOptions& options) {
  MaskSettings settings = options.graph.settings();
  settings.channels = static_cast<int>(parse_integer("--channels", options.channels, 1, 4));
  CompileOptions compile_options = options.graph.compile_options();
  options.graph.apply_threads();
  Program program = compile(mask_graph(settings), compile_options);
  std::vector<KernelReport> kernels = program.report();
  if (options.json) {
    Json list = Json::array();
    for (const KernelReport& kernel : kernels) list.push_back(step_json(kernel, options.kernels));
    print_json({{"command", "mask"},
                {"device", program.device()},
                {"fusion", compile_options.fusion},
                {"recording", program.stats().recording},
                {"graph", program.graph().to_text()},
                {"kernels", std::move(list)}});
    return exit_fine;
  }
  print_line(stdout, fmt::format("mask on {}, fusion {}: {} Region{}, one kernel each",
                                 program.device(), compile_options.fusion ? "on" : "off",
                                 kernels.size(), kernels.size() == 1 ? "" : "s"));
  print_line(stdout, "recording: " + program.stats().recording);
  print_section("graph after the passes", program.graph().to_text());
  for (const KernelReport& kernel : kernels) print_step(kernel, options.kernels);
  return exit_fine;
}

}  // namespace

void add_explain(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("explain", "What a model or command becomes, and why");
  command->footer(examples);
  auto options = std::make_shared<ExplainOptions>();
  options->model.add_to(*command, false);
  command->add_flag("--kernels", options->kernels, "Also print the code of every kernel");
  command->add_flag("--json", options->json, "Print the result as JSON");
  CLI::App* mask = command->add_subcommand("mask", "The graph of `fuseline mask`");
  mask->add_flag("--kernels", options->kernels, "Also print the code of every kernel");
  mask->add_option("--channels", options->channels, "Of the pictures: 1, 3 (the default) or 4")
      ->type_name("N");
  options->graph.add_to(*mask);
  mask->add_flag("--json", options->json, "Print the result as JSON");
  mask->footer(examples);
  mask->callback([options, &run] { run = [options] { return explain_mask(*options); }; });
  command->callback([command, options, &run] {
    if (!command->get_subcommands().empty()) return;
    run = [options] {
      const std::string& name = options->model.model;
      if (name.empty()) fail("explain: name the command mask, or a model file");
      if (!std::filesystem::exists(name) && nearest(name, {"mask"}))
        fail("explain {}: there is no such file; did you mean mask?", name);
      return explain_model(options->model, options->kernels, options->json);
    };
  });
}

}  // namespace fuseline::cli
