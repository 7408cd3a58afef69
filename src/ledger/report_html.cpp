// The report as one self-contained page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ledger/environment.hpp"
#include "ledger/outlook.hpp"
#include "ledger/page.hpp"
#include "ledger/report.hpp"
#include "ledger/text.hpp"

namespace fuseline {
namespace {

using page::element;
using page::escaped;
using page::Part;

std::string figure(const std::string& name, const std::string& value, const std::string& below) {
  return element("div", "figure",
                 element("span", "soft", escaped(name)) + element("b", "", escaped(value)) +
                     element("span", "soft", escaped(below)));
}

std::string card(const std::string& title, const std::string& inside) {
  return element("section", "card", element("h2", "", escaped(title)) + inside);
}

std::string range_text(const Estimate& estimate, const TimeUnit& unit) {
  return fmt::format("{} to {} {}", number_text(estimate.low * unit.per_ms),
                     number_text(estimate.high * unit.per_ms), unit.name);
}

std::string cell(const std::string& text) { return "<td>" + escaped(text) + "</td>"; }

std::string name_cell(const std::string& name, std::size_t index) {
  return fmt::format("<td><span class=\"swatch\" style=\"background:{}\"></span>{}</td>",
                     page::color_of(index), escaped(name));
}

std::string pill(std::optional<Verdict> verdict) {
  if (!verdict) return "";
  return fmt::format("<span class=\"pill {0}\">{0}</span>", name_of(*verdict));
}

std::string table(const std::vector<std::string>& heads, const std::string& rows) {
  std::string head;
  for (const std::string& name : heads) head += "<th>" + escaped(name) + "</th>";
  return element("table", "", "<tr>" + head + "</tr>" + rows);
}

// Before and after.
std::string head_figures(const AccountSummary& summary, const Account& account) {
  TimeUnit unit = unit_for(summary.total.before.value);
  auto time = [&](const Estimate& e) {
    return fmt::format("{} {}", number_text(e.value * unit.per_ms), unit.name);
  };
  std::string figures =
      figure("end to end", fmt::format("{:.2f}x", summary.end_to_end_speedup.value),
             fmt::format("{:.2f}x to {:.2f}x", summary.end_to_end_speedup.low,
                         summary.end_to_end_speedup.high)) +
      figure("before", time(summary.total.before), range_text(summary.total.before, unit)) +
      figure("after", time(summary.total.after), range_text(summary.total.after, unit));
  if (summary.kernel_speedup)
    figures += figure(account.kernels, fmt::format("{:.2f}x", summary.kernel_speedup->value),
                      fmt::format("end to end {:.2f}x", summary.end_to_end_speedup.value));
  return element("div", "row", figures + figure("bound by", summary.bound_by, "largest row after"));
}

std::string account_card(const AccountSummary& summary) {
  TimeUnit unit = unit_for(std::max(summary.total.before.value, summary.total.after.value));
  auto time = [&](const Estimate& e) {
    return fmt::format("{} ± {}", number_text(e.value * unit.per_ms),
                       number_text((e.high - e.low) / 2 * unit.per_ms));
  };
  std::vector<Part> before, after;
  std::string rows;
  auto add = [&](const AccountRow& row, const std::string& name) {
    rows += "<tr>" + name + cell(time(row.before)) + cell(time(row.after)) +
            cell(share_text(row.share_before)) + cell(share_text(row.share_after)) +
            cell(row.speedup ? times_text(*row.speedup) : "-") + "<td>" + pill(row.verdict) +
            "</td></tr>";
  };
  double before_sum = 0, after_sum = 0;
  for (std::size_t i = 0; i < summary.stages.size(); ++i) {
    const AccountRow& row = summary.stages[i];
    add(row, name_cell(row.name, i));
    before.push_back({row.name, row.before.value * unit.per_ms});
    after.push_back({row.name, row.after.value * unit.per_ms});
    before_sum += before.back().value;
    after_sum += after.back().value;
  }
  add(summary.total, cell("end to end"));
  double whole = std::max(before_sum, after_sum);
  return card("Account",
              page::stacked_bar("before", before, whole, unit.name) +
                  page::stacked_bar("after", after, whole, unit.name) +
                  table({fmt::format("stage, {}", unit.name), "before", "after", "share before",
                         "share after", "speed-up", "verdict"},
                        rows) +
                  element("p", "soft",
                          "Every instant of a run is in exactly one row, so the rows of each run "
                          "sum to its wall time; the table shows medians over the blocks."));
}

std::string speedup_card(const RunRecord& record, const AccountSummary& summary,
                         const Account& account) {
  std::vector<Part> parts;
  if (summary.kernel_speedup)
    parts.push_back({account.kernels + " alone", summary.kernel_speedup->value});
  parts.push_back({"end to end", summary.end_to_end_speedup.value});
  parts.push_back({"ceiling by arithmetic (Amdahl)", summary.ceiling ? summary.ceiling->value : 0});
  auto null = record.null_kernels.ceiling_of(summary.total.before.value);
  parts.push_back({"ceiling by the null kernel", null ? null->value : 0});
  return card("Speed-ups", page::bars(parts));
}

// One side.
std::string series_card(const Series& series) {
  Summary whole = describe(series.wall);
  TimeUnit unit = unit_for(whole.median.value);
  std::vector<Part> parts;
  std::string rows;
  auto number = [&](double value) { return cell(number_text(value * unit.per_ms)); };
  auto add = [&](const std::string& name, const Summary& row) {
    rows += "<tr>" + name + cell(interval_text(row.median, unit)) + number(row.min) +
            number(row.mean) + number(row.p95) + number(row.max) +
            cell(share_text(row.median.value / whole.median.value)) + "</tr>";
  };
  double sum = 0;
  for (std::size_t i = 0; i < series.rows.size(); ++i) {
    Summary row = describe(series.rows[i]);
    add(name_cell(series.row_names[i], i), row);
    parts.push_back({series.row_names[i], row.median.value * unit.per_ms});
    sum += parts.back().value;
  }
  add(cell("end to end"), whole);
  return card("Account", page::stacked_bar("one run", parts, sum, unit.name) +
                             table({fmt::format("stage, {}", unit.name), "median [95 %]", "min",
                                    "mean", "p95", "max", "share"},
                                   rows));
}

std::string series_figures(const Series& series) {
  Summary whole = describe(series.wall);
  std::string cold = series.warm_up.empty() ? "not measured" : time_text(series.cold());
  return element(
      "div", "row",
      figure("median", time_text(whole.median.value),
             range_text(whole.median, unit_for(whole.median.value))) +
          figure("p95", time_text(whole.p95), fmt::format("{} runs", whole.median.n)) +
          figure("p99", whole.p99 ? time_text(*whole.p99) : "not told", "from 1000 runs on") +
          figure("cold run", cold, "the very first"));
}

std::string distribution_card(const RunRecord& record) {
  std::vector<std::vector<double>> samples;
  TimeUnit unit = unit_for(median(record.last().series.wall));
  std::vector<std::string> names;
  for (const RunSide& side : record.sides) {
    samples.push_back(side.series.wall);
    for (double& time : samples.back()) time *= unit.per_ms;
    names.push_back(fmt::format("<span class=\"swatch\" style=\"background:{}\"></span>{}",
                                page::color_of(names.size()), escaped(side.label)));
  }
  return card("Times of all runs", element("p", "soft", fmt::format("{}", fmt::join(names, " "))) +
                                       page::histogram(samples, unit.name));
}

std::string first_runs_card(const RunRecord& record) {
  std::string charts;
  for (const RunSide& side : record.sides) {
    std::vector<double> first(side.series.warm_up.begin(),
                              side.series.warm_up.begin() +
                                  std::min<std::ptrdiff_t>(std::ssize(side.series.warm_up), 10));
    std::vector<std::string> labels;
    for (double time : first) labels.push_back(time_text(time));
    charts += element(
        "div", "",
        element("div", "soft", escaped(side.label)) + page::line_chart(first, labels, 420, 90));
  }
  return card("First ten runs", element("div", "grid", charts));
}

std::string history_card(const RunRecord& record, const std::vector<RunRecord>& history) {
  if (history.size() < 2) return "";
  std::vector<std::string> names = record.last().series.row_names;
  names.emplace_back("end to end");
  std::string charts;
  for (const std::string& name : names) {
    std::vector<double> values;
    std::vector<std::string> labels;
    for (const RunRecord& one : history) {
      const Series& series = one.last().series;
      values.push_back(median(name == "end to end" ? series.wall : series.row(name)));
      labels.push_back(
          fmt::format("run {}, {}: {}", one.id, one.created, time_text(values.back())));
    }
    if (values.empty()) continue;
    std::string title =
        fmt::format("{}: {} to {}", name, time_text(values.front()), time_text(values.back()));
    charts +=
        element("div", "",
                element("div", "soft", escaped(title)) + page::line_chart(values, labels, 260, 70));
  }
  return card(fmt::format("History, {} runs", history.size()), element("div", "grid", charts));
}

std::string lines_card(const std::string& title, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += escaped(line) + "\n";
  return card(title, element("pre", "", text));
}

std::string outlook_card(const RunRecord& record) {
  std::string lines;
  if (auto deadline = deadline_of(record))
    lines += element("p", "", escaped(deadline_text(*deadline)));
  if (auto projection = projection_of(record))
    lines += element("p", "", escaped(projection_text(*projection)));
  return lines.empty() ? "" : card("Outlook", lines);
}

// "</script>" inside of a string would end the element.
std::string embedded(const char* id, const Json& data) {
  std::string text = json_text(data, -1), safe;
  for (char c : text) safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return fmt::format("<script id=\"{}\" type=\"application/json\">{}</script>\n", id, safe);
}

constexpr const char* trace_button =
    " <button id=\"keep-trace\" type=\"button\">Download as Chrome trace</button>";

bool has_trace(const RunRecord& record) {
  return std::any_of(record.sides.begin(), record.sides.end(),
                     [](const RunSide& side) { return side.series.trace.wall > 0; });
}

std::string header(const RunRecord& record) {
  std::string name = record.name.empty() ? "" : record.name + ", ";
  std::string commands;
  for (const RunSide& side : record.sides)
    commands += fmt::format("<div><span class=\"soft\">{}</span> <code>{}</code></div>",
                            escaped(side.label), escaped(command_text(side.command)));
  return element("h1", "", escaped(command_text(record.last().command))) +
         element("p", "soft",
                 fmt::format("{}run {}, {} {}", escaped(name), record.id, escaped(record.created),
                             pill(verdict_of(record)))) +
         commands;
}

}  // namespace

std::string report_html(const RunRecord& record, const std::vector<RunRecord>& history) {
  std::string body = header(record);
  if (record.two_sided()) {
    Account account = account_of(record);
    AccountSummary summary = summarize(account);
    body += head_figures(summary, account) + account_card(summary) +
            speedup_card(record, summary, account);
  } else {
    body += series_figures(record.last().series) + series_card(record.last().series);
  }
  body += outlook_card(record) + distribution_card(record) + first_runs_card(record) +
          history_card(record, history) + lines_card("Memory and clocks", resource_lines(record)) +
          lines_card("What this rests on", trust_lines(record));
  body += "<p><button id=\"keep\" type=\"button\">Save the data of this page</button>" +
          std::string(has_trace(record) ? trace_button : "") + "</p>\n";
  std::string title = escaped(command_text(record.last().command));
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         title + "</title>\n" + page::style + "</head>\n<body><main>\n" + body + "</main>\n" +
         embedded("data", report_json(record)) +
         (has_trace(record) ? embedded("trace", chrome_trace(record)) : "") + page::script +
         "\n</body></html>\n";
}

}  // namespace fuseline
