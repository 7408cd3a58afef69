// Inline SVG and HTML of the report's page.
#include "ledger/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ledger/stats.hpp"
#include "ledger/text.hpp"

namespace fuseline::page {

const char* const style = R"(<style>
:root { --back: #f6f7f9; --card: #fff; --ink: #1d2430; --soft: #667085; --line: #e3e6eb;
  --good: #11845b; --bad: #c0392b; --same: #3b6fb6; --unsure: #a06a00; }
@media (prefers-color-scheme: dark) { :root { --back: #12161c; --card: #1b2129; --ink: #e6e9ee;
  --soft: #98a2b3; --line: #2d3541; --good: #3ecf8e; --bad: #ff7b6b; --same: #7fb0f5;
  --unsure: #f0b64a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1000px; margin: 0 auto; padding: 32px 20px 60px; }
h1 { font-size: 22px; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 15px; margin: 0 0 14px; }
code { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  overflow-wrap: anywhere; }
.soft { color: var(--soft); font-size: 13px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 20px 22px; margin-top: 18px; overflow-x: auto; }
.row { display: flex; flex-wrap: wrap; gap: 14px; margin-top: 18px; }
.figure { flex: 1 1 150px; background: var(--card); border: 1px solid var(--line);
  border-radius: 12px; padding: 14px 18px; }
.figure b { display: block; font-size: 24px; font-variant-numeric: tabular-nums; }
.pill { display: inline-block; padding: 3px 12px; border-radius: 999px; font-weight: 600;
  font-size: 13px; color: var(--card); background: var(--soft); }
.FASTER { background: var(--good); } .SLOWER { background: var(--bad); }
.SAME { background: var(--same); } .INCONCLUSIVE { background: var(--unsure); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums;
  font-size: 13px; }
td .pill { font-size: 10px; padding: 1px 8px; }
th { text-align: right; font-weight: 600; color: var(--soft); }
th, td { padding: 6px 8px; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
tr:last-child td { border-bottom: 0; font-weight: 600; }
.swatch { display: inline-block; width: 10px; height: 10px; border-radius: 3px;
  margin-right: 8px; }
.stack { display: flex; height: 26px; border-radius: 6px; overflow: hidden; background: var(--line);
  margin: 4px 0 12px; }
.stack i { display: block; height: 100%; }
.bars { display: grid; grid-template-columns: max-content 1fr max-content; gap: 8px 14px;
  align-items: center; }
.bars i { display: block; height: 18px; border-radius: 5px; background: var(--same); }
.bars .none { background: none; border: 1px dashed var(--soft); width: 100%; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(260px, 1fr)); gap: 18px; }
svg { display: block; width: 100%; height: auto; }
pre { margin: 0; white-space: pre-wrap; font: 13px/1.6 ui-monospace, Menlo, Consolas, monospace; }
button { font: inherit; font-size: 13px; color: var(--ink); background: none;
  border: 1px solid var(--line); border-radius: 8px; padding: 6px 12px; cursor: pointer; }
</style>)";

const char* const script = R"(<script>
function keep(button, data, name) {
  if (!document.getElementById(button)) return;
  document.getElementById(button).onclick = function () {
    var link = document.createElement("a");
    var text = document.getElementById(data).textContent;
    link.href = URL.createObjectURL(new Blob([text], {type: "application/json"}));
    link.download = name;
    link.click();
  };
}
keep("keep", "data", "fuseline-run.json");
keep("keep-trace", "trace", "fuseline-trace.json");
</script>)";

std::string color_of(std::size_t index) {
  constexpr std::array<const char*, 8> colors = {"#3b6fb6", "#e0853d", "#2a9d74", "#8e5bb5",
                                                 "#c94f6d", "#5aa9c9", "#b39b2e", "#7a8794"};
  return colors[index % colors.size()];
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  return safe;
}

std::string element(std::string_view tag, std::string_view kind, const std::string& inside) {
  std::string open = kind.empty() ? "" : fmt::format(" class=\"{}\"", kind);
  return fmt::format("<{}{}>{}</{}>\n", tag, open, inside, tag);
}

std::string stacked_bar(const std::string& label, const std::vector<Part>& parts, double whole,
                        const std::string& unit) {
  std::string inside;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    double percent = whole > 0 ? 100 * parts[i].value / whole : 0;
    inside +=
        fmt::format("<i style=\"width:{:.3f}%;background:{}\" title=\"{}: {} {}\"></i>", percent,
                    color_of(i), escaped(parts[i].name), number_text(parts[i].value), unit);
  }
  return element("div", "soft", escaped(label)) + element("div", "stack", inside);
}

std::string bars(const std::vector<Part>& parts) {
  double most = 0;
  for (const Part& part : parts) most = std::max(most, part.value);
  std::string inside;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    bool measured = part.value > 0;
    inside += fmt::format("<span>{}</span>", escaped(part.name));
    inside += measured ? fmt::format("<i style=\"width:{:.2f}%;background:{}\"></i>",
                                     100 * part.value / most, color_of(i))
                       : std::string("<i class=\"none\"></i>");
    inside += fmt::format("<span>{}</span>",
                          measured ? fmt::format("{:.2f}x", part.value) : "not measured");
  }
  return element("div", "bars", inside);
}

std::string line_chart(const std::vector<double>& values, const std::vector<std::string>& labels,
                       int width, int height) {
  if (values.empty()) return "";
  constexpr double edge = 8;
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  double range = *high > *low ? *high - *low : 1;
  std::string points, dots;
  for (std::size_t i = 0; i < values.size(); ++i) {
    double place =
        values.size() > 1 ? static_cast<double>(i) / static_cast<double>(values.size() - 1) : 0.5;
    double x = edge + place * (width - 2 * edge);
    double y = height - edge - (values[i] - *low) / range * (height - 2 * edge);
    points += fmt::format("{:.1f},{:.1f} ", x, y);
    dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}</title></circle>", x,
                        y, escaped(i < labels.size() ? labels[i] : ""));
  }
  return fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\"><polyline points=\"{}\" fill=\"none\" "
      "stroke=\"#3b6fb6\" stroke-width=\"1.5\"/><g fill=\"#3b6fb6\">{}</g></svg>\n",
      width, height, points, dots);
}

std::string histogram(const std::vector<std::vector<double>>& samples, const std::string& unit) {
  constexpr std::size_t columns = 60;
  constexpr double width = 900, height = 150, base = 130;
  std::vector<double> all;
  for (const auto& sample : samples) all.insert(all.end(), sample.begin(), sample.end());
  // The slowest hundredth would squeeze everything else into one column.
  double low = quantile(all, 0), high = quantile(all, 0.99);
  if (!(high > low)) high = low + (low > 0 ? low * 0.01 : 1);
  std::string inside;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    std::array<std::size_t, columns> counts{};
    for (double value : samples[s]) {
      double place = std::clamp((value - low) / (high - low), 0.0, 1.0);
      ++counts[std::min(columns - 1, static_cast<std::size_t>(place * columns))];
    }
    auto most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
    for (std::size_t c = 0; c < columns; ++c) {
      double size = static_cast<double>(counts[c]) / most * (base - 10);
      inside += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" "
          "opacity=\"0.6\"/>",
          static_cast<double>(c) * width / columns, base - size, width / columns - 1, size,
          color_of(s));
    }
  }
  auto label = [&](double x, const char* anchor, double value) {
    return fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" font-size=\"13\" fill=\"#7a8794\">{} {}</text>",
        x, height - 2, anchor, number_text(value), unit);
  };
  inside += label(0, "start", low) + label(width, "end", high);
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\">{}</svg>\n", width, height, inside);
}

}  // namespace fuseline::page
