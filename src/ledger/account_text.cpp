// The account as a table of at most 80 columns.
#include <fmt/format.h>

#include "ledger/account.hpp"

namespace fuseline {
namespace {

// Three significant digits, never an exponent.
std::string number(double value) {
  int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string interval(const Estimate& estimate) {
  return fmt::format("{} [{}, {}]", number(estimate.value), number(estimate.low),
                     number(estimate.high));
}

std::string times(const Estimate& estimate) {
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", estimate.value, estimate.low, estimate.high);
}

std::string table_row(const AccountRow& row) {
  return fmt::format("{:<11} {:<23} {:<23} {:>7.1f} % {:>8.2f}x\n", row.name, interval(row.before),
                     interval(row.after), 100 * row.share_before, row.speedup.value);
}

}  // namespace

std::string account_text(const Account& account) {
  AccountSummary summary = summarize(account);
  std::string rule(80, '-');
  std::string text =
      fmt::format("{}\nbefore: {}\nafter:  {}\n", account.title, account.before, account.after);
  text += fmt::format("{}\n{:<11} {:<23} {:<23} {:>9} {:>9}\n{}\n", rule, "stage, ms",
                      "before [95 %]", "after [95 %]", "of before", "speed-up", rule);
  for (const AccountRow& row : summary.stages) text += table_row(row);
  text += rule + "\n" + table_row(summary.total);
  text += fmt::format("\nkernels     {:<24} end to end  {}\n", times(summary.kernel_speedup),
                      times(summary.end_to_end_speedup));
  text += fmt::format("ceiling     {:<24} end to end, were kernels free (Amdahl)\n",
                      times(summary.ceiling));
  text += fmt::format("bound by    {}\n", summary.bound_by);
  for (const std::string& note : account.notes) text += note + "\n";
  text.pop_back();
  return text;
}

}  // namespace fuseline
