// Numbers and columns of reports: three significant digits, one unit a table, 80 columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/stats.hpp"

namespace fuseline {

inline constexpr std::size_t report_width = 80;

struct TimeUnit {
  const char* name;  // "ms"
  double per_ms;     // how many of them a millisecond has
};
// ns, us, ms or s: the one in which a time of `largest` milliseconds has at most three digits
// before its point.
TimeUnit unit_for(double largest);

// Three significant digits, never an exponent.
std::string number_text(double value);
std::string interval_text(const Estimate& milliseconds, const TimeUnit& unit);  // "1.2 [1.1, 1.3]"
std::string time_text(double milliseconds);                                     // "12.3 ms"
std::string times_text(const Estimate& ratio);                                  // "1.31x [..]"
std::string share_text(double share);                                           // "12.3 %"
std::string bytes_text(double bytes);                                           // "12.3 MiB"

std::string trimmed(std::string text);  // without blanks at its end
// Cut to `width` columns, the last one telling that something is missing.
std::string cut(const std::string& text, std::size_t width);
// The line of a table; a name that does not fit `width` stands in full on a line before the rest.
std::string table_line(const std::string& name, std::size_t width, const std::string& rest);
// Broken at blanks into lines of at most 80 columns; those behind the first are indented.
std::string wrapped(const std::string& text, std::size_t indent = 2);
// The same behind a label of twelve columns.
std::string labeled(const std::string& label, const std::string& text);
// Bars from low to high, one column a value: history in one line.
std::string sparkline(const std::vector<double>& values);

}  // namespace fuseline
