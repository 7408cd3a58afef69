// Warnings, the ledger, the report and the exit code of `fuseline bench`.
#include "cli/bench_finish.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <exception>

#include "base/fail.hpp"
#include "cli/exit_code.hpp"
#include "cli/ledger_text.hpp"
#include "cli/terminal.hpp"
#include "ledger/outlook.hpp"
#include "ledger/report.hpp"
#include "ledger/store.hpp"

namespace fuseline::cli {
namespace {

int gate_code(const RunRecord& record) {
  if (auto deadline = deadline_of(record); deadline && !deadline->met) return exit_some_failed;
  return verdict_exit_code(verdict_of(record));
}

// The report goes out before the ledger can fail, so that nothing measured is lost.
void keep(RunRecord& record, const BenchOptions& options, const std::string& verdict) {
  auto path = options.no_store ? std::nullopt : ledger_path();
  if (!path) return;
  Ledger ledger(*path, Ledger::Mode::write);
  record.id = ledger.add(record, verdict);
}

}  // namespace

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::vector<std::string> output_warnings(const RunRecord& record) {
  std::vector<std::string> lines;
  for (const RunSide& side : record.sides)
    if (side.series.different_outputs)
      lines.push_back(fmt::format("{}: {} of {} runs wrote another output than the first",
                                  side.label, side.series.different_outputs,
                                  side.series.wall.size() + side.series.warm_up.size()));
  if (lines.empty() && record.two_sided() &&
      record.sides[0].series.output_hash != record.sides[1].series.output_hash)
    lines.emplace_back("before and after write different outputs");
  return lines;
}

int finish_bench(RunRecord& record, const BenchOptions& options) {
  if (std::vector<std::string> changed = output_warnings(record);
      options.same_output && !changed.empty())
    fail("{} (--same-output)", changed.front());
  auto verdict = verdict_of(record);
  std::exception_ptr not_kept;
  try {
    keep(record, options, verdict ? std::string(name_of(*verdict)) : "");
  } catch (const Error&) {
    not_kept = std::current_exception();
  }
  if (options.json)
    print_json(report_json(record));
  else
    print_line(stdout, report_text(record) + kept_text(record));
  if (not_kept) std::rethrow_exception(not_kept);
  return options.gate ? gate_code(record) : exit_fine;
}

}  // namespace fuseline::cli
