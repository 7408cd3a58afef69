// fuseline compile: a model after the passes, in a file that loads fast.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/model_file.hpp"
#include "cli/model_inputs.hpp"
#include "cli/terminal.hpp"

namespace fuseline::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  fuseline compile model.onnx -o model.fuse\n"
    "  fuseline compile model.onnx --precision bf16 -o model.fuse\n"
    "  fuseline run model.fuse --input x=x.npy\n"
    "The file holds the graph after the passes, its weights, the options and the\n"
    "choices that were made for this kind of device; kernels come from the cache.\n"
    "Inputs whose values decide more than sizes (axes, say) must be given.";

struct CompileCommand {
  ModelOptions model;
  std::string output;
  bool json = false;
};

int compile_model(const CompileCommand& options) {
  ModelFile model = ModelFile::open(options.model.model, options.model.compile_options());
  model.need_onnx("compile");
  ModelInputs inputs = read_inputs(model, options.model);
  Program program = model.compile_to(options.output, inputs.tensors);
  auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(options.output));
  std::size_t operations = program.graph().nodes().size();
  if (options.json) {
    print_json({{"file", options.output},
                {"bytes", bytes},
                {"device", program.device()},
                {"precision", options.model.precision},
                {"operations", operations}});
    return exit_fine;
  }
  print_line(stdout, fmt::format("{}: {:.1f} MB, {} operations, {}, for {}", options.output,
                                 static_cast<double>(bytes) / 1e6, operations,
                                 options.model.precision, program.device()));
  return exit_fine;
}

}  // namespace

void add_compile(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("compile", "Write a compiled model that loads fast");
  auto options = std::make_shared<CompileCommand>();
  options->model.add_to(*command);
  command->add_option("-o,--output", options->output, "The file to write")
      ->type_name("FILE")
      ->required();
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->footer(examples);
  command->callback([options, &run] { run = [options] { return compile_model(*options); }; });
}

}  // namespace fuseline::cli
