// Comparison of stored runs.
#include "ledger/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "ledger/environment.hpp"
#include "ledger/rank_tests.hpp"
#include "ledger/report.hpp"
#include "ledger/text.hpp"

namespace fuseline {
namespace {

constexpr std::size_t fewest_runs = 9;

bool all_positive(const std::vector<double>& times) {
  return std::all_of(times.begin(), times.end(), [](double time) { return time > 0; });
}

// How far the medians of the two halves of one measurement lie apart.
double drift(const std::vector<double>& times) {
  auto half = static_cast<std::ptrdiff_t>(times.size() / 2);
  double first = median(std::vector<double>(times.begin(), times.begin() + half));
  double second = median(std::vector<double>(times.begin() + half, times.end()));
  return std::expm1(std::abs(std::log(first / second)));
}

ComparedRow make_row(const std::string& name, const std::vector<double>& before,
                     const std::vector<double>& after) {
  ComparedRow row;
  row.name = name;
  row.before = describe(before);
  row.after = describe(after);
  if (!all_positive(before) || !all_positive(after)) return row;
  row.speedup = unpaired_ratio(before, after);
  row.adjusted_p = mann_whitney(before, after).p;
  if (std::min(before.size(), after.size()) >= fewest_runs)
    row.noise_floor = std::max(drift(before), drift(after));
  return row;
}

void judge_row(ComparedRow& row, double threshold) {
  if (row.speedup && row.noise_floor)
    row.verdict = judge(*row.speedup, {.threshold = threshold, .noise_floor = *row.noise_floor},
                        row.adjusted_p);
}

void judge_stages(std::vector<ComparedRow>& rows, double threshold) {
  std::vector<double> p_values;
  for (const ComparedRow& row : rows) p_values.push_back(row.adjusted_p);
  std::vector<double> adjusted = holm(p_values);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].adjusted_p = adjusted[i];
    judge_row(rows[i], threshold);
  }
}

std::string run_text(const RunRecord& record) {
  std::string name = record.name.empty() ? "" : " " + record.name;
  return fmt::format("run {}{}, {}, {}", record.id, name, record.created,
                     command_text(record.last().command));
}

void check_hardware(Comparison& comparison, const RunRecord& before, const RunRecord& after,
                    bool force) {
  auto differences = different_hardware(before.environment, after.environment);
  if (differences.empty()) return;
  std::string text = fmt::format("{}", fmt::join(differences, "; "));
  if (!force)
    fail("these runs are from different hardware ({}); --force compares them all the same", text);
  comparison.notes.push_back("forced: different hardware, " + text);
}

// What may explain a difference, beside the change that is looked for.
void tell_changes(Comparison& comparison, const RunRecord& before, const RunRecord& after) {
  for (auto [part, key] : {std::pair{"software", "system"},
                           {"software", "kernel"},
                           {"software", "driver"},
                           {"software", "cuda"},
                           {"source", "commit"},
                           {"conditions", "governor"},
                           {"conditions", "cgroup_cpus"}}) {
    auto value = [&, part = part, key = key](const RunRecord& record) {
      return record.environment.value(part, Json::object()).value(key, Json());
    };
    if (value(before) != value(after))
      comparison.notes.push_back(
          fmt::format("{}: {} -> {}", key, value_text(value(before)), value_text(value(after))));
  }
  if (command_text(before.last().command) != command_text(after.last().command))
    comparison.notes.emplace_back("the commands differ");
}

}  // namespace

Comparison compare_records(const RunRecord& before, const RunRecord& after, double threshold,
                           bool force) {
  Comparison comparison;
  check_hardware(comparison, before, after, force);
  const Series &first = before.last().series, &second = after.last().series;
  comparison.before = run_text(before);
  comparison.after = run_text(after);
  std::vector<std::string> names = first.row_names;
  for (const std::string& name : second.row_names)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  for (const std::string& name : names)
    comparison.stages.push_back(make_row(name, first.row(name), second.row(name)));
  comparison.total = make_row("end to end", first.wall, second.wall);
  judge_stages(comparison.stages, threshold);
  judge_row(comparison.total, threshold);
  if (std::min(first.wall.size(), second.wall.size()) < fewest_runs)
    comparison.notes.push_back(fmt::format("{} and {} runs: below {} a side nothing can be said",
                                           first.wall.size(), second.wall.size(), fewest_runs));
  tell_changes(comparison, before, after);
  comparison.notes.emplace_back(
      "The runs were not interleaved: what else changed between them is in the numbers.");
  return comparison;
}

std::string comparison_text(const Comparison& comparison) {
  constexpr std::size_t name_width = 13;
  constexpr const char* layout = "{:<20} {:<20} {:>8} {:>7} {}";
  TimeUnit unit = unit_for(std::max(comparison.total.before.max, comparison.total.after.max));
  std::string rule(report_width, '-'), text;
  auto add = [&](const ComparedRow& row) {
    std::string verdict(row.verdict == Verdict::inconclusive ? "INCONCL." : name_of(row.verdict));
    std::string speedup = row.speedup ? fmt::format("{:.2f}x", row.speedup->value) : "-";
    text +=
        table_line(row.name, name_width,
                   fmt::format(layout, interval_text(row.before.median, unit),
                               interval_text(row.after.median, unit), speedup,
                               row.speedup ? fmt::format("{:.3f}", row.adjusted_p) : "-", verdict));
  };
  text += fmt::format(
      "{}: end to end {}\n\n", name_of(comparison.total.verdict),
      comparison.total.speedup ? times_text(*comparison.total.speedup) : "without a ratio");
  text += wrapped("before: " + comparison.before) + "\n" + wrapped("after:  " + comparison.after) +
          "\n" + rule + "\n";
  text +=
      table_line(fmt::format("stage, {}", unit.name), name_width,
                 fmt::format(layout, "before [95 %]", "after [95 %]", "speed-up", "p", "verdict")) +
      rule + "\n";
  for (const ComparedRow& row : comparison.stages) add(row);
  text += rule + "\n";
  add(comparison.total);
  for (const std::string& note : comparison.notes) text += wrapped(note) + "\n";
  text.pop_back();
  return text;
}

Json comparison_json(const Comparison& comparison) {
  auto row_json = [](const ComparedRow& row) -> Json {
    return {{"name", row.name},
            {"before", summary_json(row.before)},
            {"after", summary_json(row.after)},
            {"speedup", estimate_json(row.speedup)},
            {"adjusted_p", row.adjusted_p},
            {"noise_floor", row.noise_floor ? Json(*row.noise_floor) : Json(nullptr)},
            {"verdict", name_of(row.verdict)}};
  };
  Json stages = Json::array();
  for (const ComparedRow& row : comparison.stages) stages.push_back(row_json(row));
  return {{"unit", "ms"},
          {"before", comparison.before},
          {"after", comparison.after},
          {"verdict", name_of(comparison.total.verdict)},
          {"stages", std::move(stages)},
          {"end_to_end", row_json(comparison.total)},
          {"notes", comparison.notes}};
}

}  // namespace fuseline
