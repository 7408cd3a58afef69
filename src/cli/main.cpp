// The program: parses the command line, runs a command, turns errors into lines and exit codes.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/fail.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/parse.hpp"
#include "cli/terminal.hpp"

namespace fuseline::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  fuseline mask photo.jpg       a mask beside the picture, and its area\n"
    "  fuseline mask --help          all that a command takes\n"
    "  fuseline info                 what this machine offers";

void declare(CLI::App& program, Run& run) {
  program.description("Fuseline: picture pipelines as fused, generated kernels");
  program.name("fuseline");
  program.footer(examples);
  program.set_version_flag("--version", "fuseline " FUSELINE_VERSION, "Print the version");
  program.get_formatter()->column_width(24);
  // Words behind a command are its own, even those that name another command.
  program.require_subcommand(0, 1);
  add_mask(program, run);
  add_run(program, run);
  add_inspect(program, run);
  add_verify(program, run);
  add_compile(program, run);
  add_explain(program, run);
  add_kernel(program, run);
  add_bench(program, run);
  add_compare(program, run);
  add_diagnose(program, run);
  add_ledger(program, run);
  add_info(program, run);
  add_cache(program, run);
}

// Words that nobody takes are kept, so that the error can say what was meant.
void allow_extras(CLI::App& app) {
  app.allow_extras();
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    allow_extras(*command);
}

int parse_and_run(int count, const char* const* words) {
  CLI::App program;
  Run run;
  declare(program, run);
  allow_extras(program);
  try {
    program.parse(count, words);
  } catch (const CLI::Success& wanted) {  // --help, --version
    return program.exit(wanted);
  } catch (const CLI::ParseError& error) {
    fail("{}", usage_message(program, error));
  }
  reject_extras(program);
  if (!run) fail("name a command; see `fuseline --help`");
  return run();
}

}  // namespace

int guarded_main(int count, const char* const* words) {
  int code = exit_fine;
  try {
    code = parse_and_run(count, words);
    if (std::fflush(stdout) != 0) fail("the output could not be written");
    return code;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error_line(error.what()));
    code = error.kind() == ErrorKind::interrupted ? exit_interrupted
           : error.kind() == ErrorKind::device    ? exit_device
                                                  : exit_usage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error_line(error.what()));
    code = exit_internal;
  }
  std::fflush(stdout);
  return code;
}

}  // namespace fuseline::cli

int main(int count, char** words) {
  int code = fuseline::cli::guarded_main(count, words);
  std::fflush(stderr);
  // Unloading the generated code and its libraries would take milliseconds and free what the
  // kernel frees anyway.
  ::_exit(code);
}
