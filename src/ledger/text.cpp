// Numbers and columns of reports.
#include "ledger/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

namespace fuseline {

TimeUnit unit_for(double largest) {
  if (largest >= 999.5) return {"s", 1e-3};
  if (largest >= 0.9995) return {"ms", 1};
  if (largest >= 0.0009995) return {"us", 1e3};
  return {"ns", 1e6};
}

std::string number_text(double value) {
  double size = std::abs(value);
  if (size == 0) return "0";
  int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string interval_text(const Estimate& milliseconds, const TimeUnit& unit) {
  return fmt::format("{} [{}, {}]", number_text(milliseconds.value * unit.per_ms),
                     number_text(milliseconds.low * unit.per_ms),
                     number_text(milliseconds.high * unit.per_ms));
}

std::string time_text(double milliseconds) {
  if (milliseconds == 0) return "0 ms";
  TimeUnit unit = unit_for(std::abs(milliseconds));
  return fmt::format("{} {}", number_text(milliseconds * unit.per_ms), unit.name);
}

std::string times_text(const Estimate& ratio) {
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", ratio.value, ratio.low, ratio.high);
}

std::string share_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string bytes_text(double bytes) {
  constexpr double mega = 1024.0 * 1024.0;
  return bytes >= 1024 * mega ? fmt::format("{} GiB", number_text(bytes / mega / 1024))
                              : fmt::format("{} MiB", number_text(bytes / mega));
}

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string cut(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 1) + "~";
}

std::string table_line(const std::string& name, std::size_t width, const std::string& rest) {
  if (name.size() <= width) return fmt::format("{:<{}} {}\n", name, width, rest);
  return cut(name, report_width) + "\n" + std::string(width + 1, ' ') + rest + "\n";
}

namespace {

std::string wrapped_behind(std::string line, const std::string& text, std::size_t indent) {
  std::istringstream words(text);
  std::string lines;
  bool first = true;
  for (std::string word; words >> word;) {
    if (!first && line.size() + 1 + word.size() > report_width) {
      lines += line + "\n";
      line = std::string(indent, ' ') + word;
    } else {
      line += (first ? "" : " ") + word;
    }
    first = false;
  }
  return lines + line;
}

}  // namespace

std::string wrapped(const std::string& text, std::size_t indent) {
  return wrapped_behind("", text, indent);
}

std::string labeled(const std::string& label, const std::string& text) {
  constexpr std::size_t width = 12;
  return wrapped_behind(fmt::format("{:<{}}", label, width), text, width);
}

std::string sparkline(const std::vector<double>& values) {
  constexpr const char* bars[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                  "\u2585", "\u2586", "\u2587", "\u2588"};
  std::string line;
  if (values.empty()) return line;
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  double range = *high - *low;
  for (double value : values) {
    double place = range > 0 ? (value - *low) / range : 0.5;
    line += bars[static_cast<std::size_t>(place * (std::size(bars) - 1) + 0.5)];
  }
  return line;
}

}  // namespace fuseline
