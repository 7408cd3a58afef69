// fuseline explain: what a command's graph became, and why.
#include <fmt/format.h>

#include <memory>

#include "base/fail.hpp"
#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/mask_options.hpp"
#include "cli/parse.hpp"
#include "cli/terminal.hpp"

namespace fuseline::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  fuseline explain mask                Regions, plans, reasons of the borders\n"
    "  fuseline explain mask --fusion off   the same, one kernel for each operation\n"
    "  fuseline explain mask --kernels      with Loop IR, LLVM IR and CUDA C";

struct ExplainOptions {
  MaskGraphOptions graph;
  std::string channels = "3";
  bool kernels = false;
  bool json = false;
};

void print_section(std::string_view name, const std::string& text) {
  if (text.empty()) return;
  std::string body = text;
  while (body.ends_with('\n')) body.pop_back();
  print_line(stdout, fmt::format("\n--- {}\n{}", name, body));
}

std::string compiled_text(const KernelReport& kernel) {
  std::string text = kernel.cache_hit
                         ? fmt::format("cache hit, loaded in {:.2f} ms", kernel.compile_ms)
                         : fmt::format("compiled in {:.1f} ms", kernel.compile_ms);
  if (kernel.registers) text += fmt::format(", {} registers", *kernel.registers);
  if (kernel.spill_bytes) text += fmt::format(", {} bytes spilled", *kernel.spill_bytes);
  return text;
}

void print_kernel(const KernelReport& kernel, bool sources) {
  print_line(stdout, "\n" + colored(stdout, Color::bold, "Region " + kernel.name));
  print_line(stdout, fmt::format("  operations  {}", fmt::join(kernel.operations, ", ")));
  print_line(stdout, "  plan        " + kernel.plan);
  for (const std::string& reason : kernel.reasons) print_line(stdout, "  border      " + reason);
  print_line(stdout, "  code        " + compiled_text(kernel));
  if (!sources) return;
  print_section("Loop IR", kernel.loop_ir);
  print_section("source for this device", kernel.source);
  print_section("CUDA C", kernel.cuda_source);
}

Json kernel_json(const KernelReport& kernel, bool sources) {
  Json json = {{"name", kernel.name},           {"operations", kernel.operations},
               {"plan", kernel.plan},           {"reasons", kernel.reasons},
               {"cache_hit", kernel.cache_hit}, {"compile_ms", kernel.compile_ms}};
  if (kernel.registers) json["registers"] = *kernel.registers;
  if (kernel.spill_bytes) json["spill_bytes"] = *kernel.spill_bytes;
  if (!sources) return json;
  json["loop_ir"] = kernel.loop_ir;
  json["source"] = kernel.source;
  json["cuda_source"] = kernel.cuda_source;
  return json;
}

int explain_mask(const ExplainOptions& options) {
  MaskSettings settings = options.graph.settings();
  settings.channels = static_cast<int>(parse_integer("--channels", options.channels, 1, 4));
  CompileOptions compile_options = options.graph.compile_options();
  options.graph.apply_threads();
  Program program = compile(mask_graph(settings), compile_options);
  std::vector<KernelReport> kernels = program.report();
  if (options.json) {
    Json list = Json::array();
    for (const KernelReport& kernel : kernels) list.push_back(kernel_json(kernel, options.kernels));
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
  for (const KernelReport& kernel : kernels) print_kernel(kernel, options.kernels);
  return exit_fine;
}

}  // namespace

void add_explain(CLI::App& program, Run& run) {
  CLI::App* command =
      program.add_subcommand("explain", "What a command becomes: Regions, plans, code, and why");
  command->footer(examples);
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* mask = command->add_subcommand("mask", "The graph of `fuseline mask`");
  mask->add_flag("--kernels", options->kernels, "Also print the code of every kernel");
  mask->add_option("--channels", options->channels, "Of the pictures: 1, 3 (the default) or 4")
      ->type_name("N");
  options->graph.add_to(*mask);
  mask->add_flag("--json", options->json, "Print the result as JSON");
  mask->footer(examples);
  mask->callback([options, &run] { run = [options] { return explain_mask(*options); }; });
  command->callback([command, &run] {
    if (command->get_subcommands().empty())
      run = []() -> int { fail("explain: name the command to explain: mask"); };
  });
}

}  // namespace fuseline::cli
