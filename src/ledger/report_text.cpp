// The report as text of 80 columns.
#include <fmt/format.h>

#include "ledger/outlook.hpp"
#include "ledger/report.hpp"
#include "ledger/text.hpp"

namespace fuseline {
namespace {

const std::string rule(report_width, '-');

constexpr std::size_t name_width = 18;
// Columns: median, min, mean, p95, max, share.
constexpr const char* layout = "{:<20} {:>7} {:>7} {:>7} {:>7} {:>7}";

std::string series_row(const std::string& name, const Summary& summary, const TimeUnit& unit,
                       double share) {
  auto number = [&](double value) { return number_text(value * unit.per_ms); };
  return table_line(name, name_width,
                    fmt::format(layout, interval_text(summary.median, unit), number(summary.min),
                                number(summary.mean), number(summary.p95), number(summary.max),
                                share_text(share)));
}

std::string tail_text(const Summary& summary, const TimeUnit& unit) {
  std::string p99 = summary.p99
                        ? fmt::format("{} {}", number_text(*summary.p99 * unit.per_ms), unit.name)
                        : "not told below 1000 runs";
  return fmt::format("p90 {} {}, p99 {}, total {}", number_text(summary.p90 * unit.per_ms),
                     unit.name, p99, time_text(summary.total));
}

std::string busy_text(const Series& series, const std::string& who = "") {
  std::string text;
  double whole = median(series.wall);
  for (const auto& [stage, times] : series.busy) {
    double time = median(times);
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", stage, time_text(time),
                        share_text(whole > 0 ? time / whole : 0));
  }
  return text.empty() ? "" : labeled("busy", who + text) + "\n";
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string one_sided(const RunRecord& record) {
  const Series& series = record.last().series;
  Summary whole = describe(series.wall);
  TimeUnit unit = unit_for(whole.max);
  std::string what = command_text(record.last().command);
  if (!record.settings.per.empty()) what += ", per " + record.settings.per;
  std::string text = wrapped(what) + "\n" + rule + "\n";
  text += table_line(fmt::format("stage, {}", unit.name), name_width,
                     fmt::format(layout, "median [95 %]", "min", "mean", "p95", "max", "share")) +
          rule + "\n";
  for (std::size_t i = 0; i < series.rows.size(); ++i) {
    Summary row = describe(series.rows[i]);
    text += series_row(series.row_names[i], row, unit, row.median.value / whole.median.value);
  }
  text += rule + "\n" + series_row("end to end", whole, unit, 1);
  if (!series.latency.empty())
    text += series_row("from intended", describe(series.latency), unit,
                       median(series.latency) / whole.median.value);
  if (!series.warm_up.empty()) text += fmt::format("cold run    {}\n", time_text(series.cold()));
  return text + tail_text(whole, unit) + "\n" + busy_text(series) + joined(resource_lines(record));
}

std::string two_sided(const RunRecord& record) {
  Account account = account_of(record);
  AccountSummary summary = summarize(account);
  std::string text = wrapped(verdict_line(summary, account.kernels)) + "\n\n";
  account.title = wrapped(account.title);
  for (const RunSide& side : record.sides)
    if (!side.series.warm_up.empty())
      account.notes.push_back(
          fmt::format("cold run    {}: {}", side.label, time_text(side.series.cold())));
  text += account_text(account) + "\n";
  for (const RunSide& side : record.sides) text += busy_text(side.series, side.label + ": ");
  return text + joined(resource_lines(record));
}

}  // namespace

std::string report_text(const RunRecord& record) {
  std::string text = record.two_sided() ? two_sided(record) : one_sided(record);
  if (auto deadline = deadline_of(record)) text += wrapped(deadline_text(*deadline)) + "\n";
  if (auto projection = projection_of(record)) text += wrapped(projection_text(*projection)) + "\n";
  text += "\n";
  for (const std::string& line : trust_lines(record)) text += line + "\n";
  text.pop_back();
  return text;
}

}  // namespace fuseline
