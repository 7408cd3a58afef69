// The report of a kernel's check as lines and as JSON.
#include "cli/kernel_report.hpp"

#include <fmt/format.h>

#include "cli/terminal.hpp"

namespace fuseline::cli {
namespace {

constexpr std::size_t most_lines = 10;

std::string figures(const foreign::Compiled& compiled) {
  if (!compiled.missing.empty()) return "not compiled by NVRTC: " + compiled.missing;
  std::string text = fmt::format("{}, compiled in {:.0f} ms", compiled.architecture, compiled.ms);
  if (compiled.registers) text += fmt::format(", {} registers", *compiled.registers);
  if (compiled.spill_bytes) text += fmt::format(", {} bytes spilled", *compiled.spill_bytes);
  if (compiled.shared_bytes) text += fmt::format(", {} bytes shared", *compiled.shared_bytes);
  return text;
}

std::string occupancy(const foreign::Compiled& compiled, const foreign::LaunchWish& wish) {
  const foreign::Occupancy& o = *compiled.occupancy;
  return fmt::format("{:.0f} %: {} blocks of {} threads on a multiprocessor, limited by {}",
                     100 * o.share, o.blocks, wish.threads(), o.limit);
}

std::string fault_line(const foreign::Fault& fault) {
  return fmt::format("{} ({}): {}", fault.sizes, fault.bases, fault.what);
}

}  // namespace

void print_report(const foreign::Report& report, const foreign::Contract& contract,
                  const std::string& file) {
  auto row = [](const char* name, const std::string& text) {
    print_line(stdout, fmt::format("  {:<10}  {}", name, text));
  };
  print_line(stdout, fmt::format("{}: {}", file, contract.kernel));
  if (!report.rejection.empty()) {
    print_line(stdout, colored(stdout, Color::red, "FAILED") + ": the kernel cannot be used\n" +
                           report.rejection);
    return;
  }
  row("code", figures(report.compiled));
  if (report.compiled.occupancy) row("occupancy", occupancy(report.compiled, report.wish));
  if (!report.compiled.warnings.empty()) row("warnings", "\n" + report.compiled.warnings);
  row("ran on", report.runner);
  for (const std::string& skipped : report.skipped) row("skipped", skipped);
  for (std::size_t i = 0; i < std::min(most_lines, report.faults.size()); ++i)
    row("fault", fault_line(report.faults[i]));
  if (report.faults.size() > most_lines)
    row("", fmt::format("... and {} more", report.faults.size() - most_lines));
  if (report.runs < report.planned)
    row("ended", fmt::format("{} of {} runs were not made after this", report.planned - report.runs,
                             report.planned));
  print_line(stdout, report.passed()
                         ? fmt::format("{}: {} runs, sizes and base addresses",
                                       colored(stdout, Color::green, "PASSED"), report.runs)
                         : fmt::format("{}: {} of {} runs", colored(stdout, Color::red, "FAILED"),
                                       report.failed, report.runs));
}

Json report_json(const foreign::Report& report, const foreign::Contract& contract,
                 const std::string& file) {
  const foreign::Compiled& compiled = report.compiled;
  Json code = {{"architecture", compiled.architecture}, {"ms", compiled.ms}};
  if (!compiled.missing.empty()) code["missing"] = compiled.missing;
  if (compiled.registers) code["registers"] = *compiled.registers;
  if (compiled.spill_bytes) code["spill_bytes"] = *compiled.spill_bytes;
  if (compiled.shared_bytes) code["shared_bytes"] = *compiled.shared_bytes;
  if (compiled.occupancy)
    code["occupancy"] = {{"share", compiled.occupancy->share},
                         {"blocks", compiled.occupancy->blocks},
                         {"limit", compiled.occupancy->limit}};
  if (!compiled.warnings.empty()) code["warnings"] = compiled.warnings;
  Json faults = Json::array();
  for (const foreign::Fault& fault : report.faults) {
    Json one = {{"sizes", fault.sizes}, {"bases", fault.bases}, {"what", fault.what}};
    if (!fault.buffer.empty()) one["buffer"] = fault.buffer;
    if (!fault.expected.empty()) {
      one["index"] = fault.index;
      one["expected"] = fault.expected;
      one["actual"] = fault.actual;
    }
    faults.push_back(std::move(one));
  }
  Json all = {{"file", file},
              {"kernel", contract.kernel},
              {"passed", report.passed()},
              {"code", code},
              {"ran_on", report.runner},
              {"runs", report.runs},
              {"planned", report.planned},
              {"failed", report.failed},
              {"skipped", report.skipped},
              {"faults", std::move(faults)}};
  if (!report.rejection.empty()) all["rejection"] = report.rejection;
  return all;
}

}  // namespace fuseline::cli
