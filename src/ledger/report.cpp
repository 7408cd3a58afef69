// The report as JSON, and what its three forms share.
#include "ledger/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ledger/clocks.hpp"
#include "ledger/environment.hpp"
#include "ledger/outlook.hpp"
#include "ledger/text.hpp"

namespace fuseline {
namespace {

Json rows_json(const Series& series) {
  Json rows = Json::array();
  double whole = median(series.wall);
  for (std::size_t i = 0; i < series.rows.size(); ++i) {
    Json row = {{"name", series.row_names[i]}};
    row.update(summary_json(describe(series.rows[i])));
    row["share"] = whole > 0 ? median(series.rows[i]) / whole : 0;
    rows.push_back(std::move(row));
  }
  return rows;
}

Json side_json(const RunSide& side) {
  const Series& series = side.series;
  Json busy = Json::object(), resources = Json::object();
  for (const auto& [stage, times] : series.busy) busy[stage] = median(times);
  for (const auto& [name, values] : series.resources) resources[name] = median(values);
  std::size_t shown = std::min<std::size_t>(series.warm_up.size(), 10);
  return {
      {"label", side.label},
      {"options", side.options},
      {"command", side.command},
      {"steady", series.steady},
      {"moving", series.moving.empty() ? Json(nullptr) : Json(series.moving)},
      {"cold_ms", series.warm_up.empty() ? Json(nullptr) : Json(series.cold())},
      {"first_ms",
       std::vector<double>(series.warm_up.begin(),
                           series.warm_up.begin() + static_cast<std::ptrdiff_t>(shown))},
      {"warm_up_runs", series.warm_up.size()},
      {"wall", summary_json(describe(series.wall))},
      {"latency", series.latency.empty() ? Json(nullptr) : summary_json(describe(series.latency))},
      {"rows", rows_json(series)},
      {"busy_ms", std::move(busy)},
      {"resources", std::move(resources)},
      {"different_outputs", series.different_outputs}};
}

Json null_kernels_json(const RunRecord& record) {
  const NullKernels& null = record.null_kernels;
  auto ceiling = null.ceiling_of(median(record.sides.front().series.wall));
  return {{"saved_ms", estimate_json(null.saved_ms)},
          {"ceiling", estimate_json(ceiling)},
          {"why_not", null.why_not.empty() ? Json(nullptr) : Json(null.why_not)}};
}

std::string first_ten(const Series& series) {
  std::vector<std::string> times;
  TimeUnit unit = unit_for(quantile(series.warm_up, 1));
  for (std::size_t i = 0; i < std::min<std::size_t>(series.warm_up.size(), 10); ++i)
    times.push_back(number_text(series.warm_up[i] * unit.per_ms));
  return fmt::format("{} {}", fmt::join(times, " "), unit.name);
}

std::string still_moving(const Series& series) {
  return series.moving.empty() ? "" : "; " + series.moving + " still changed";
}

std::string noise_text(const RunRecord& record) {
  if (!record.two_sided()) return "not measured (one side)";
  auto floor = summarize(account_of(record)).total.noise_floor;
  return floor ? share_text(*floor) : "not measured (too few blocks)";
}

}  // namespace

std::optional<Verdict> verdict_of(const RunRecord& record) {
  if (!record.two_sided()) return std::nullopt;
  // Without measured noise nothing is said.
  return summarize(account_of(record)).total.verdict.value_or(Verdict::inconclusive);
}

Json summary_json(const Summary& summary) {
  return {{"n", summary.median.n},
          {"median", summary.median.value},
          {"low", summary.median.low},
          {"high", summary.median.high},
          {"min", summary.min},
          {"mean", summary.mean},
          {"max", summary.max},
          {"total", summary.total},
          {"p90", summary.p90},
          {"p95", summary.p95},
          {"p99", summary.p99 ? Json(*summary.p99) : Json(nullptr)}};
}

Json report_json(const RunRecord& record) {
  Json sides = Json::array();
  for (const RunSide& side : record.sides) sides.push_back(side_json(side));
  auto verdict = verdict_of(record);
  return {{"schema", 1},
          {"unit", "ms"},
          {"id", record.id ? Json(record.id) : Json(nullptr)},
          {"name", record.name},
          {"created", record.created},
          {"verdict", verdict ? Json(name_of(*verdict)) : Json(nullptr)},
          {"threshold", record.settings.threshold},
          {"sides", std::move(sides)},
          {"account", record.two_sided() ? account_json(account_of(record)) : Json(nullptr)},
          {"deadline", deadline_json(deadline_of(record))},
          {"projection", projection_json(projection_of(record))},
          {"null_kernels", null_kernels_json(record)},
          {"clocks", clocks_json(clock_shares(record))},
          {"rate", record.settings.rate},
          {"per", record.settings.per},
          {"environment", record.environment},
          {"warnings", record.warnings}};
}

std::vector<std::string> trust_lines(const RunRecord& record) {
  std::vector<std::string> lines;
  auto add = [&](const std::string& name, const std::string& text) {
    lines.push_back(labeled(name, text));
  };
  std::vector<std::string> counts;
  for (const RunSide& side : record.sides)
    counts.push_back(fmt::format("{}", side.series.wall.size()));
  add("n", fmt::format("{} runs, noise floor {}, threshold {}", fmt::join(counts, " + "),
                       noise_text(record), share_text(record.settings.threshold)));
  if (record.two_sided() && record.sides[0].series.wall.size() < 2 * fewest_blocks_for_verdict)
    add("verdict",
        fmt::format("none is possible below {} runs a side", 2 * fewest_blocks_for_verdict));
  for (const RunSide& side : record.sides) {
    const Series& series = side.series;
    if (series.warm_up.empty()) continue;
    std::string who = record.two_sided() ? side.label + ": " : "";
    add("first ten", who + first_ten(series));
    if (series.steady) continue;
    bool enough = series.warm_up.size() >= fewest_to_tell_steady;
    add("warm-up",
        who + fmt::format("{} behind {} runs{}", enough ? "NOT STEADY" : "not steady",
                          series.warm_up.size(),
                          enough ? still_moving(series)
                                 : fmt::format("; {} are needed to tell", fewest_to_tell_steady)));
  }
  for (const Json& check : record.environment.value("kernel_checks", Json::array()))
    add("kernel",
        fmt::format("{} keeps the contract: {} runs on {}, {} registers", check.value("file", ""),
                    value_text(check.value("runs", Json())), check.value("ran_on", ""),
                    value_text(check.value("registers", Json()))));
  if (Json stages = record.environment.value("stages", Json()); stages.is_string())
    add("stages", stages.get<std::string>() + " of the program, which marks none itself");
  for (std::string& line : environment_lines(record.environment)) lines.push_back(std::move(line));
  for (const std::string& warning : record.warnings) add("warning", warning);
  return lines;
}

}  // namespace fuseline
