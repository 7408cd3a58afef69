// The diagnosis as text of 80 columns.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "ledger/diagnose_report.hpp"
#include "ledger/environment.hpp"
#include "ledger/run_record.hpp"
#include "ledger/text.hpp"

namespace fuseline {
namespace {

constexpr double free_of_cost = std::numeric_limits<double>::infinity();
const std::string rule(report_width, '-');

std::string rows_text(const Finding& finding) {
  return fmt::format("{}", fmt::join(finding.rows, " + "));
}

std::string heading(const std::string& text) { return "\n" + wrapped(text) + "\n" + rule + "\n"; }

std::string bound_line(const Diagnosis& diagnosis) {
  if (diagnosis.findings.empty()) return "no finding: no row reaches 1 % of the time";
  const Finding& first = diagnosis.findings.front();
  std::string what = first.rows.empty() ? "" : fmt::format(" ({})", rows_text(first));
  return fmt::format("{}{}: {} of {}; were it free, end to end {}", name_of(first.bound), what,
                     time_text(first.gain_ms), time_text(median(diagnosis.observed.series.wall)),
                     times_text(first.speedup));
}

std::string account_table(const Series& series) {
  constexpr std::size_t name_width = 22;
  constexpr const char* layout = "{:<22} {:>8}  {}";
  Estimate wall = median_interval(series.wall);
  TimeUnit unit = unit_for(wall.high);
  std::string text = rule + "\n" +
                     table_line(fmt::format("stage, {}", unit.name), name_width,
                                fmt::format(layout, "median [95 %]", "share", "were it free")) +
                     rule + "\n";
  for (std::size_t i = 0; i < series.rows.size(); ++i) {
    Estimate row = median_interval(series.rows[i]);
    Estimate ceiling = speedup_with(series, {series.row_names[i]}, free_of_cost);
    text += table_line(series.row_names[i], name_width,
                       fmt::format(layout, interval_text(row, unit),
                                   share_text(row.value / wall.value), times_text(ceiling)));
  }
  return text + rule + "\n" +
         table_line("end to end", name_width,
                    fmt::format("{}  n {}", interval_text(wall, unit), series.wall.size()));
}

std::string ceilings_text(const Diagnosis& diagnosis) {
  const Observed& observed = diagnosis.observed;
  const auto& names = observed.series.row_names;
  if (std::find(names.begin(), names.end(), observed.kernels) == names.end())
    return labeled("ceiling", fmt::format("no time of its own is marked as \"{}\" (--kernels): "
                                          "what faster kernels could gain was not measured",
                                          observed.kernels)) +
           "\n";
  return labeled("ceiling", fmt::format("{} end to end, were {} free (Amdahl)",
                                        times_text(speedup_with(observed.series, {observed.kernels},
                                                                free_of_cost)),
                                        observed.kernels)) +
         "\n";
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::string text = heading("Findings, by what they could gain at most");
  int place = 0;
  for (const Finding& finding : findings) {
    std::string rows = finding.rows.empty() ? "" : ", " + rows_text(finding);
    text += wrapped(fmt::format("{}. {}{}: {}, {} ({})", ++place, name_of(finding.bound), rows,
                                time_text(finding.gain_ms), times_text(finding.speedup),
                                finding.measured ? "measured" : "arithmetic"),
                    3) +
            "\n";
    text += labeled("   evidence", finding.evidence) + "\n";
    text += labeled("   do", finding.advice) + "\n";
  }
  return text;
}

std::string what_if_text(const WhatIf& one) {
  std::string text = fmt::format("{} {:.2f}x faster: {} -> {}, end to end {}", one.stage,
                                 one.factor, time_text(one.before_ms.value),
                                 time_text(one.after_ms.value), times_text(one.speedup));
  if (one.hidden) text += "; it always runs beside another stage, which hides it";
  return labeled("what if", text) + "\n";
}

}  // namespace

std::string diagnosis_text(const Diagnosis& diagnosis) {
  const Observed& observed = diagnosis.observed;
  std::string text = wrapped(command_text(observed.command)) + "\n" +
                     wrapped(bound_line(diagnosis)) + "\n" + account_table(observed.series) +
                     ceilings_text(diagnosis);
  for (const WhatIf& one : diagnosis.what_ifs) text += what_if_text(one);
  text += findings_text(diagnosis.findings);
  text += experiments_text(diagnosis) + "\n";
  if (!observed.series.steady)
    text += labeled("warm-up", "not steady: the account may not hold for longer runs") + "\n";
  for (const std::string& line : environment_lines(diagnosis.environment)) text += line + "\n";
  for (const std::string& warning : diagnosis.warnings) text += labeled("warning", warning) + "\n";
  text.pop_back();
  return text;
}

}  // namespace fuseline
