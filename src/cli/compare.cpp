// fuseline compare: two runs of the ledger.
#include <fmt/format.h>

#include <memory>

#include "base/fail.hpp"
#include "cli/bench_options.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/ledger_text.hpp"
#include "cli/terminal.hpp"
#include "ledger/comparison.hpp"

namespace fuseline::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  fuseline compare last~1 last        the newest run against the one before\n"
    "  fuseline compare main branch        by the names given to bench --name\n"
    "  fuseline compare 12 15 --gate       by number; slower is exit code 1\n"
    "Exit codes: 0 compared, 2 bad usage, unknown run or different hardware; with\n"
    "--gate also 1 slower, 4 inconclusive.";

struct CompareOptions {
  std::vector<std::string> runs;
  std::string threshold = "2";
  bool force = false, gate = false, json = false;
};

int run_compare(const CompareOptions& options) {
  if (options.runs.size() != 2)
    fail("compare: name two runs, as in `fuseline compare last~1 last`; {} were named",
         options.runs.size());
  double threshold = parse_number("--threshold", options.threshold, 0, 100) / 100;
  Ledger ledger = open_ledger(Ledger::Mode::read);
  RunRecord before = ledger.load(find_run(ledger, options.runs[0]));
  RunRecord after = ledger.load(find_run(ledger, options.runs[1]));
  Comparison comparison = compare_records(before, after, threshold, options.force);
  if (options.json)
    print_json(comparison_json(comparison));
  else
    print_line(stdout, comparison_text(comparison));
  return options.gate ? verdict_exit_code(comparison.total.verdict) : exit_fine;
}

}  // namespace

void add_compare(CLI::App& program, Run& run) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = program.add_subcommand("compare", "Compare two runs of the ledger");
  command->add_option("RUN", options->runs, "A number, a name, last or last~N; two of them")
      ->type_name("");
  command->add_option("--threshold", options->threshold, "Smaller effects do not matter (2)")
      ->type_name("PERCENT");
  command->add_flag("--force", options->force, "Compare runs of different hardware");
  command->add_flag("--gate", options->gate, "Exit 1 if slower, 4 if inconclusive");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->footer(examples);
  command->callback([options, &run] { run = [options] { return run_compare(*options); }; });
}

}  // namespace fuseline::cli
