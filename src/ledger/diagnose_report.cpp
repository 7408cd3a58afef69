// The conclusions, and their JSON.
#include "ledger/diagnose_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ledger/account.hpp"
#include "ledger/report.hpp"
#include "ledger/run_record.hpp"
#include "ledger/text.hpp"

namespace fuseline {
namespace {

constexpr double free_of_cost = std::numeric_limits<double>::infinity();

// What a stage that copies could have moved in its time, at the measured rate.
void add_copy_rate(Finding& finding, const Roofline& roofline) {
  constexpr double large = 256e6;
  auto rate = rate_near(roofline, host_path(1), large);
  if (!rate) return;
  finding.evidence += fmt::format(
      "; one thread copies {:.1f} GB/s here, {} in that time: if fewer bytes move, the "
      "copy itself is slow",
      *rate, bytes_text(*rate * 1e6 * finding.gain_ms));
}

void add_ceiling(Finding& finding, const NullRun& run) {
  NullCeiling ceiling = ceiling_of(run);
  finding.evidence += fmt::format("; null kernels make a frame {} faster, arithmetic says {}",
                                  times_text(ceiling.measured), times_text(ceiling.arithmetic));
}

// The fixed part as a finding of its own: it is no row, but lies in several of them.
std::optional<Finding> fixed_cost(const Diagnosis& diagnosis) {
  if (!diagnosis.sweep.value) return std::nullopt;
  SizeFit fit = fit_sizes(diagnosis.sweep.value->points).front();
  double wall = median(diagnosis.observed.series.wall);
  constexpr double least_share = 0.1;
  if (fit.fixed_ms.low <= 0 || fit.fixed_ms.value < least_share * wall) return std::nullopt;
  // The rest of a run, at the ends of the fit's interval.
  auto speedup = [&](double fixed) { return wall / std::max(wall - fixed, 1e-6); };
  Finding finding;
  finding.bound = Bound::start;
  finding.gain_ms = std::min(fit.fixed_ms.value, wall);
  finding.speedup = {speedup(fit.fixed_ms.value), speedup(fit.fixed_ms.low),
                     speedup(fit.fixed_ms.high), fit.fixed_ms.n};
  finding.measured = true;
  finding.evidence = fmt::format(
      "{} of a run do not depend on the size of the picture, {} a "
      "megapixel do",
      time_text(fit.fixed_ms.value), time_text(fit.per_megapixel_ms.value));
  finding.advice = "name many pictures in one command: the fixed part is paid once";
  return finding;
}

Json fits_json(const std::vector<SizeFit>& fits) {
  Json all = Json::array();
  for (const SizeFit& fit : fits)
    all.push_back({{"row", fit.row.empty() ? "end to end" : fit.row},
                   {"fixed_ms", estimate_json(fit.fixed_ms)},
                   {"per_megapixel_ms", estimate_json(fit.per_megapixel_ms)},
                   {"off_line", fit.off_line}});
  return all;
}

Json missing_json(const std::string& why) { return {{"not_measured", why}}; }

Json sweep_json(const Measured<Sweep>& sweep) {
  if (!sweep.value) return missing_json(sweep.why_not);
  Json sizes = Json::array();
  for (const SizePoint& point : sweep.value->points)
    sizes.push_back({{"width", point.width},
                     {"height", point.height},
                     {"megapixels", point.megapixels()},
                     {"wall_ms", estimate_json(median_interval(point.series.wall))}});
  return {{"re_encoded_as", sweep.value->format},
          {"sizes", std::move(sizes)},
          {"fit", fits_json(fit_sizes(sweep.value->points))}};
}

Json null_json(const Measured<NullRun>& run) {
  if (!run.value) return missing_json(run.why_not);
  NullCeiling ceiling = ceiling_of(*run.value);
  return {{"frame_ms", estimate_json(ceiling.frame_ms)},
          {"null_frame_ms", estimate_json(ceiling.null_ms)},
          {"measured_ceiling", estimate_json(ceiling.measured)},
          {"arithmetic_ceiling", estimate_json(ceiling.arithmetic)},
          {"agree", ceiling.agree}};
}

Json gain_json(const Measured<GainRun>& gain) {
  if (!gain.value) return missing_json(gain.why_not);
  auto split = split_gain(*gain.value);
  if (!split) return missing_json("both sides launch equally often");
  return {{"launches_before", gain.value->before.launches},
          {"launches_after", gain.value->after.launches},
          {"bytes_before", gain.value->before.bytes},
          {"bytes_after", gain.value->after.bytes},
          {"saved_ms", estimate_json(split->saved_ms)},
          {"launch_cost_ms", estimate_json(split->launch_cost_ms)},
          {"memory_gb_per_s", gain.value->bytes_per_ms / 1e6},
          {"launches_ms", split->launches_ms},
          {"bytes_ms", split->bytes_ms},
          {"clocks_ms", nullptr},
          {"unexplained_ms", split->unexplained_ms}};
}

Json roofline_json(const Roofline& roofline) {
  Json points = Json::array();
  for (const CopyPoint& point : roofline.points)
    points.push_back({{"path", point.path},
                      {"bytes", point.bytes},
                      {"gb_per_s", estimate_json(point.gb_per_s)}});
  return {{"points", std::move(points)},
          {"theoretical_peak_gb_per_s", nullptr},
          {"not_measured", roofline.not_measured}};
}

Json findings_json(const std::vector<Finding>& findings) {
  Json all = Json::array();
  for (const Finding& finding : findings)
    all.push_back({{"bound", name_of(finding.bound)},
                   {"rows", finding.rows},
                   {"gain_ms", finding.gain_ms},
                   {"speedup", estimate_json(finding.speedup)},
                   {"basis", finding.measured ? "measured" : "arithmetic"},
                   {"evidence", finding.evidence},
                   {"advice", finding.advice}});
  return all;
}

Json account_rows_json(const Series& series) {
  Json rows = Json::array();
  double wall = median(series.wall);
  for (std::size_t i = 0; i < series.rows.size(); ++i) {
    Estimate row = median_interval(series.rows[i]);
    rows.push_back(
        {{"name", series.row_names[i]},
         {"ms", estimate_json(row)},
         {"share", wall > 0 ? row.value / wall : 0},
         {"ceiling", estimate_json(speedup_with(series, {series.row_names[i]}, free_of_cost))}});
  }
  return rows;
}

Json what_ifs_json(const std::vector<WhatIf>& what_ifs) {
  Json all = Json::array();
  for (const WhatIf& one : what_ifs)
    all.push_back({{"stage", one.stage},
                   {"factor", one.factor},
                   {"before_ms", estimate_json(one.before_ms)},
                   {"after_ms", estimate_json(one.after_ms)},
                   {"speedup", estimate_json(one.speedup)},
                   {"hidden", one.hidden}});
  return all;
}

}  // namespace

void conclude(Diagnosis& diagnosis) {
  diagnosis.findings = findings_of(diagnosis.observed);
  for (Finding& finding : diagnosis.findings) {
    if (finding.bound == Bound::copy) add_copy_rate(finding, diagnosis.roofline);
    if (finding.bound == Bound::kernel && diagnosis.null_run.value)
      add_ceiling(finding, *diagnosis.null_run.value);
  }
  if (auto fixed = fixed_cost(diagnosis)) diagnosis.findings.push_back(std::move(*fixed));
  rank(diagnosis.findings);
}

Json diagnosis_json(const Diagnosis& diagnosis) {
  const Series& series = diagnosis.observed.series;
  const std::string& kernels = diagnosis.observed.kernels;
  bool has_kernels = std::find(series.row_names.begin(), series.row_names.end(), kernels) !=
                     series.row_names.end();
  Json ceiling = nullptr;
  if (has_kernels) ceiling = estimate_json(speedup_with(series, {kernels}, free_of_cost));
  const auto& found = diagnosis.findings;
  return {{"schema", 1},
          {"unit", "ms"},
          {"command", diagnosis.observed.command},
          {"bound", found.empty() ? Json(nullptr) : Json(name_of(found.front().bound))},
          {"wall", summary_json(describe(series.wall))},
          {"account", account_rows_json(series)},
          {"kernel_ceiling", std::move(ceiling)},
          {"findings", findings_json(found)},
          {"what_if", what_ifs_json(diagnosis.what_ifs)},
          {"null_kernels", null_json(diagnosis.null_run)},
          {"gain_of_fusion", gain_json(diagnosis.gain)},
          {"sweep", sweep_json(diagnosis.sweep)},
          {"copies", roofline_json(diagnosis.roofline)},
          {"environment", diagnosis.environment},
          {"warnings", diagnosis.warnings}};
}

}  // namespace fuseline
