// The diagnosis as JSON.
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

Json fits_json(const std::vector<SizeFit>& fits) {
  Json all = Json::array();
  for (const SizeFit& fit : fits)
    all.push_back({{"row", fit.row.empty() ? "end to end" : fit.row},
                   {"fixed_ms", estimate_json(fit.fixed_ms)},
                   {"per_unit_ms", estimate_json(fit.per_unit_ms)},
                   {"off_line", fit.off_line}});
  return all;
}

Json missing_json(const std::string& why) { return {{"not_measured", why}}; }

Json sweep_json(const Measured<Sweep>& sweep) {
  if (!sweep.value) return missing_json(sweep.why_not);
  Json sizes = Json::array();
  for (const SizePoint& point : sweep.value->points)
    sizes.push_back({{"size", point.label},
                     {"amount", point.amount},
                     {"wall_ms", estimate_json(median_interval(point.series.wall))}});
  return {{"how", sweep.value->how},
          {"unit", sweep.value->unit},
          {"sizes", std::move(sizes)},
          {"fit", fits_json(fit_sizes(sweep.value->points))}};
}

Json null_json(const Measured<NullRun>& run) {
  if (!run.value) return missing_json(run.why_not);
  NullCeiling ceiling = ceiling_of(*run.value);
  auto where = [&](const Estimate& estimate) {
    return run.value->no_kernels.empty() ? Json(nullptr) : estimate_json(estimate);
  };
  return {{"of", run.value->frame},
          {"frame_ms", estimate_json(ceiling.frame_ms)},
          {"null_frame_ms", estimate_json(ceiling.null_ms)},
          {"no_kernels_frame_ms", where(ceiling.no_kernels_ms)},
          {"kernels_ms", estimate_json(ceiling.kernels_ms)},
          {"launches_ms", where(ceiling.launches_ms)},
          {"measured_ceiling", estimate_json(ceiling.measured)},
          {"no_kernels_ceiling", where(ceiling.without_launches)},
          {"arithmetic_ceiling", estimate_json(ceiling.arithmetic)},
          {"arithmetic_against", ceiling.against_null ? "null kernels" : "no kernels"},
          {"agree", ceiling.agree}};
}

const char* name_of(DeviceStep::Kind kind) {
  switch (kind) {
    case DeviceStep::Kind::upload:
      return "upload";
    case DeviceStep::Kind::kernel:
      return "kernel";
    case DeviceStep::Kind::copy:
      return "copy";
    case DeviceStep::Kind::download:
      return "download";
  }
  return "";
}

Json timed_json(const Measured<TimedRun>& timed) {
  if (!timed.value) return missing_json(timed.why_not);
  TimedShares shares = shares_of(*timed.value);
  Json steps = Json::array();
  for (const DeviceStep& step : timed.value->steps)
    steps.push_back(
        {{"kind", name_of(step.kind)},
         {"name", step.name},
         {"bytes", step.bytes > 0 ? Json(step.bytes) : Json(nullptr)},
         {"us", estimate_json(median_interval(step.us))},
         {"alone_us",
          step.alone.empty() ? Json(nullptr) : estimate_json(median_interval(step.alone))}});
  return {{"plain_ms", estimate_json(shares.plain_ms)},
          {"timed_ms", estimate_json(shares.timed_ms)},
          {"ratio", estimate_json(shares.ratio)},
          {"kernels_ms", shares.kernels_ms},
          {"copies_ms", shares.copies_ms},
          {"rest_ms", shares.rest_ms},
          {"steps", std::move(steps)}};
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
          {"clocks_ms", split->clocks_ms ? Json(*split->clocks_ms) : Json(nullptr)},
          {"unexplained_ms", split->unexplained_ms}};
}

template <class T>
Json swept(const Diagnosis& diagnosis, const Measured<T>& sweep, Json (*json)(const T&)) {
  if (!diagnosis.sweeps_shapes) return missing_json("only with --sweep");
  return sweep.value ? json(*sweep.value) : missing_json(sweep.why_not);
}

Json roofline_json(const Roofline& roofline) {
  Json points = Json::array();
  for (const CopyPoint& point : roofline.points)
    points.push_back({{"path", point.path},
                      {"bytes", point.bytes},
                      {"gb_per_s", estimate_json(point.gb_per_s)}});
  Json peaks = Json::array(), launches = Json::array();
  for (const PathPeak& peak : roofline.peaks)
    peaks.push_back({{"paths", peak.paths},
                     {"gb_per_s", peak.gb_per_s ? Json(*peak.gb_per_s) : Json(nullptr)},
                     {"why", peak.why}});
  for (const LaunchCost& cost : roofline.launches)
    launches.push_back(
        {{"device", cost.device}, {"how", cost.how}, {"us", estimate_json(cost.us)}});
  return {{"points", std::move(points)},
          {"theoretical_peaks", std::move(peaks)},
          {"launches", std::move(launches)},
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
          {"experiments_on", diagnosis.object},
          {"null_kernels", null_json(diagnosis.null_run)},
          {"timed_recording", timed_json(diagnosis.timed)},
          {"gain_of_fusion", gain_json(diagnosis.gain)},
          {"sweep", sweep_json(diagnosis.sweep)},
          {"shapes", swept(diagnosis, diagnosis.shapes, shapes_json)},
          {"threads", swept(diagnosis, diagnosis.threads, threads_json)},
          {"copies", roofline_json(diagnosis.roofline)},
          {"environment", diagnosis.environment},
          {"warnings", diagnosis.warnings}};
}

}  // namespace fuseline
