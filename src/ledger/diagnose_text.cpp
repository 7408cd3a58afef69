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

std::string null_text(const Measured<NullRun>& run) {
  if (!run.value) return labeled("null run", "not measured: " + run.why_not) + "\n";
  NullCeiling ceiling = ceiling_of(*run.value);
  return labeled("null run",
                 fmt::format("a frame takes {}, with kernels that do nothing {}: ceiling {} "
                             "measured, {} by arithmetic; they {} within the intervals",
                             time_text(ceiling.frame_ms.value), time_text(ceiling.null_ms.value),
                             times_text(ceiling.measured), times_text(ceiling.arithmetic),
                             ceiling.agree ? "agree" : "do NOT agree")) +
         "\n";
}

std::string gain_text(const Measured<GainRun>& gain) {
  if (!gain.value) return labeled("fusion", "not measured: " + gain.why_not) + "\n";
  auto split = split_gain(*gain.value);
  if (!split) return labeled("fusion", "not split: both sides launch equally often") + "\n";
  const GainRun& run = *gain.value;
  return labeled(
             "fusion",
             fmt::format(
                 "kernels {} -> {}, saved {} a frame: launches {} ({} -> {}, {} each), bytes {} "
                 "({} -> {} at {:.1f} GB/s), clocks not measured, unexplained {}",
                 time_text(median(run.before_ms)), time_text(median(run.after_ms)),
                 time_text(split->saved_ms.value), time_text(split->launches_ms),
                 run.before.launches, run.after.launches, time_text(split->launch_cost_ms.value),
                 time_text(split->bytes_ms), bytes_text(run.before.bytes),
                 bytes_text(run.after.bytes), run.bytes_per_ms / 1e6,
                 time_text(split->unexplained_ms))) +
         "\n";
}

std::string sweep_text(const Measured<Sweep>& sweep) {
  if (!sweep.value) return labeled("sizes", "not measured: " + sweep.why_not) + "\n";
  std::string text =
      heading(fmt::format("Sizes: the picture re-encoded as {}", sweep.value->format));
  TimeUnit unit{"ms", 1};
  for (const SizePoint& point : sweep.value->points)
    text += fmt::format("{:>6} x {:<6} {:>8} MP   {} ms\n", point.width, point.height,
                        number_text(point.megapixels()),
                        interval_text(median_interval(point.series.wall), unit));
  text += fmt::format("{:<22} {:<26} {}\n", "fit, ms", "fixed [95 %]", "a megapixel [95 %]");
  for (const SizeFit& fit : fit_sizes(sweep.value->points))
    text += table_line(fit.row.empty() ? "end to end" : fit.row, 22,
                       fmt::format("{:<26} {}", interval_text(fit.fixed_ms, unit),
                                   interval_text(fit.per_megapixel_ms, unit)));
  double off = fit_sizes(sweep.value->points).front().off_line;
  return text +
         wrapped(fmt::format("The medians lie at most {} of the largest off the line.",
                             share_text(off))) +
         "\n";
}

std::string size_name(double bytes) {
  constexpr double kilo = 1024;
  return bytes < kilo * kilo ? fmt::format("{:.0f} KiB", bytes / kilo)
                             : fmt::format("{:.0f} MiB", bytes / kilo / kilo);
}

std::string copies_text(const Roofline& roofline) {
  std::string text = heading("Copies, GB/s; theoretical peak: not measured");
  std::vector<std::string> paths;
  std::vector<double> sizes;
  for (const CopyPoint& point : roofline.points) {
    if (std::find(paths.begin(), paths.end(), point.path) == paths.end())
      paths.push_back(point.path);
    if (std::find(sizes.begin(), sizes.end(), point.bytes) == sizes.end())
      sizes.push_back(point.bytes);
  }
  std::string line;
  for (double size : sizes) line += fmt::format(" {:>9}", size_name(size));
  text += table_line("", 26, line);
  for (const std::string& path : paths) {
    line.clear();
    for (const CopyPoint& point : roofline.points)
      if (point.path == path) line += fmt::format(" {:>9}", number_text(point.gb_per_s.value));
    text += table_line(path, 26, line);
  }
  for (const std::string& missing : roofline.not_measured)
    text += labeled("missing", missing) + "\n";
  return text;
}

}  // namespace

std::string diagnosis_text(const Diagnosis& diagnosis) {
  const Observed& observed = diagnosis.observed;
  std::string text = wrapped(command_text(observed.command)) + "\n" +
                     wrapped(bound_line(diagnosis)) + "\n" + account_table(observed.series) +
                     ceilings_text(diagnosis);
  for (const WhatIf& one : diagnosis.what_ifs) text += what_if_text(one);
  text += findings_text(diagnosis.findings);
  text += heading("Experiments");
  text += null_text(diagnosis.null_run) + gain_text(diagnosis.gain) + sweep_text(diagnosis.sweep) +
          copies_text(diagnosis.roofline) + "\n";
  if (!observed.series.steady)
    text += labeled("warm-up", "not steady: the account may not hold for longer runs") + "\n";
  for (const std::string& line : environment_lines(diagnosis.environment)) text += line + "\n";
  for (const std::string& warning : diagnosis.warnings) text += labeled("warning", warning) + "\n";
  text.pop_back();
  return text;
}

}  // namespace fuseline
