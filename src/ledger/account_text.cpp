// The account as a table of at most 80 columns.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ledger/account.hpp"
#include "ledger/text.hpp"

namespace fuseline {
namespace {

constexpr std::size_t name_width = 13;
// Columns: before, after, share of before, speed-up, verdict.
constexpr const char* layout = "{:<20} {:<20} {:>5} {:>8} {}";

std::string table_row(const AccountRow& row, const TimeUnit& unit) {
  std::string verdict = row.verdict ? std::string(name_of(*row.verdict)) : "";
  if (row.verdict == Verdict::inconclusive) verdict = "INCONCL.";
  std::string speedup = row.speedup ? fmt::format("{:.2f}x", row.speedup->value) : "-";
  return table_line(
      row.name, name_width,
      trimmed(fmt::format(layout, interval_text(row.before, unit), interval_text(row.after, unit),
                          fmt::format("{:.0f} %", 100 * row.share_before), speedup, verdict)));
}

// Where the difference comes from; the largest first, what is below a hundredth left out.
std::string saved_text(const AccountSummary& summary) {
  constexpr double least_share = 0.01;
  double whole = summary.total.saved;
  std::vector<AccountRow> rows = summary.stages;
  std::sort(rows.begin(), rows.end(), [](const AccountRow& a, const AccountRow& b) {
    return std::abs(a.saved) > std::abs(b.saved);
  });
  std::string parts;
  for (const AccountRow& row : rows)
    if (std::abs(row.saved) >= least_share * std::abs(whole))
      parts += (parts.empty() ? "" : ", ") + row.name + " " + time_text(row.saved);
  return labeled(whole >= 0 ? "saved" : "lost", time_text(whole) + " a run: " + parts);
}

// What stands beside the kernels' speed-up, always with the one that counts.
std::string speedups(const AccountSummary& summary, const std::string& kernels) {
  if (!summary.kernel_speedup || !summary.ceiling)
    return fmt::format("end to end  {}\n", times_text(summary.end_to_end_speedup));
  return fmt::format("{:<11} {:<24} end to end  {}\n{:<11} {:<24} {}\n", cut(kernels, 11),
                     times_text(*summary.kernel_speedup), times_text(summary.end_to_end_speedup),
                     "ceiling", times_text(*summary.ceiling),
                     "end to end, were kernels free (Amdahl)");
}

}  // namespace

std::string verdict_line(const AccountSummary& summary, const std::string& kernels) {
  std::string text;
  if (summary.total.verdict) text = fmt::format("{}: ", name_of(*summary.total.verdict));
  text += "end to end " + times_text(summary.end_to_end_speedup);
  if (summary.kernel_speedup && summary.ceiling)
    text += fmt::format("; {} {:.2f}x; ceiling {:.2f}x", kernels, summary.kernel_speedup->value,
                        summary.ceiling->value);
  return text + "; bound by " + summary.bound_by;
}

std::string account_text(const Account& account) {
  AccountSummary summary = summarize(account);
  TimeUnit unit = unit_for(std::max(summary.total.before.high, summary.total.after.high));
  std::string rule(80, '-');
  std::string text =
      fmt::format("{}\nbefore: {}\nafter:  {}\n", account.title, account.before, account.after);
  text += rule + "\n" +
          table_line(fmt::format("stage, {}", unit.name), name_width,
                     trimmed(fmt::format(layout, "before [95 %]", "after [95 %]", "share",
                                         "speed-up", summary.total.verdict ? "verdict" : ""))) +
          rule + "\n";
  for (const AccountRow& row : summary.stages) text += table_row(row, unit);
  text += rule + "\n" + table_row(summary.total, unit);
  text += "\n" + speedups(summary, account.kernels);
  text += saved_text(summary) + "\n" + labeled("bound by", summary.bound_by) + "\n";
  for (const std::string& note : account.notes) text += note + "\n";
  text.pop_back();
  return text;
}

}  // namespace fuseline
