// The experiments of a diagnosis as text of 80 columns.
#include <fmt/format.h>

#include <algorithm>

#include "ledger/diagnose_report.hpp"
#include "ledger/text.hpp"

namespace fuseline {
namespace {

std::string heading(const std::string& text) {
  return "\n" + wrapped(text) + "\n" + std::string(report_width, '-') + "\n";
}

std::string not_measured(const std::string& label, const std::string& why) {
  return labeled(label, "not measured: " + why) + "\n";
}

std::string null_text(const Measured<NullRun>& run) {
  if (!run.value) return not_measured("null run", run.why_not);
  NullCeiling ceiling = ceiling_of(*run.value);
  TimeUnit unit = unit_for(ceiling.frame_ms.value);
  std::string text =
      labeled("null run",
              fmt::format("a {} takes {}, with kernels that do nothing {}: ceiling {}",
                          run.value->frame, time_text(ceiling.frame_ms.value),
                          time_text(ceiling.null_ms.value), times_text(ceiling.measured))) +
      "\n";
  if (!run.value->no_kernels.empty())
    text += labeled("no kernels",
                    fmt::format("not even launched {}: ceiling {}; launches and waiting for them "
                                "{} {}",
                                time_text(ceiling.no_kernels_ms.value),
                                times_text(ceiling.without_launches),
                                interval_text(ceiling.launches_ms, unit), unit.name)) +
            "\n";
  return text +
         labeled("arithmetic",
                 fmt::format("frame / (frame - kernels): {}, kernels {}{}; it {} with the {} run "
                             "within the intervals",
                             times_text(ceiling.arithmetic), time_text(median(run.value->kernels)),
                             run.value->with_launches ? " with their launches" : "",
                             ceiling.agree ? "agrees" : "does NOT agree",
                             ceiling.against_null ? "null" : "no-kernels")) +
         "\n";
}

const char* verb_of(DeviceStep::Kind kind) {
  switch (kind) {
    case DeviceStep::Kind::upload:
      return "upload ";
    case DeviceStep::Kind::download:
      return "download ";
    case DeviceStep::Kind::copy:
      return "copy ";
    case DeviceStep::Kind::kernel:
      break;
  }
  return "";
}

std::string steps_table(const TimedRun& run) {
  TimeUnit unit{"us", 1000};
  std::string text =
      table_line("on the device, us", 30,
                 fmt::format("{:<20} {:>10} {:>14}", "in the run [95 %]", "alone", "GB/s"));
  for (const DeviceStep& step : run.steps) {
    Estimate us = median_interval(step.us);
    Estimate ms{us.value / 1000, us.low / 1000, us.high / 1000, us.n};
    std::string rate =
        step.bytes > 0 && us.value > 0 ? fmt::format("{:.1f}", step.bytes / us.value / 1e3) : "-";
    text +=
        table_line(verb_of(step.kind) + step.name, 30,
                   fmt::format("{:<20} {:>10} {:>14}", interval_text(ms, unit),
                               step.alone.empty() ? "-" : number_text(median(step.alone)), rate));
  }
  return text;
}

std::string timed_text(const Measured<TimedRun>& timed) {
  if (!timed.value) return not_measured("recording", timed.why_not);
  TimedShares shares = shares_of(*timed.value);
  return labeled("recording",
                 fmt::format("a recorded run takes {}, with points of time around every step {}, "
                             "ratio {}; of the plain one kernels are {}, copies {}, the rest {}",
                             time_text(shares.plain_ms.value), time_text(shares.timed_ms.value),
                             times_text(shares.ratio), time_text(shares.kernels_ms),
                             time_text(shares.copies_ms), time_text(shares.rest_ms))) +
         "\n" + steps_table(*timed.value);
}

std::string gain_text(const Measured<GainRun>& gain) {
  if (!gain.value) return not_measured("fusion", gain.why_not);
  auto split = split_gain(*gain.value);
  if (!split) return labeled("fusion", "not split: both sides launch equally often") + "\n";
  const GainRun& run = *gain.value;
  std::string clocks = split->clocks_ms ? time_text(*split->clocks_ms) : "not measured";
  return labeled(
             "fusion",
             fmt::format(
                 "kernels {} -> {}, saved {} a frame: launches {} ({} -> {}, {} each), bytes {} "
                 "({} -> {} at {:.1f} GB/s), clocks {}, unexplained {}",
                 time_text(median(run.before_ms)), time_text(median(run.after_ms)),
                 time_text(split->saved_ms.value), time_text(split->launches_ms),
                 run.before.launches, run.after.launches, time_text(split->launch_cost_ms.value),
                 time_text(split->bytes_ms), bytes_text(run.before.bytes),
                 bytes_text(run.after.bytes), run.bytes_per_ms / 1e6, clocks,
                 time_text(split->unexplained_ms))) +
         "\n";
}

std::string sweep_text(const Measured<Sweep>& sweep) {
  if (!sweep.value) return not_measured("sizes", sweep.why_not);
  std::string text = heading("Sizes: " + sweep.value->how);
  TimeUnit unit{"ms", 1};
  for (const SizePoint& point : sweep.value->points)
    text +=
        table_line(point.label, 22,
                   fmt::format("{:>9} {}s   {} ms", number_text(point.amount), sweep.value->unit,
                               interval_text(median_interval(point.series.wall), unit)));
  text += fmt::format("{:<22} {:<26} a {} [95 %]\n", "fit, ms", "fixed [95 %]", sweep.value->unit);
  std::vector<SizeFit> fits = fit_sizes(sweep.value->points);
  for (const SizeFit& fit : fits)
    text += table_line(fit.row.empty() ? "end to end" : fit.row, 22,
                       fmt::format("{:<26} {}", interval_text(fit.fixed_ms, unit),
                                   interval_text(fit.per_unit_ms, unit)));
  return text +
         wrapped(fmt::format("The medians lie at most {} of the largest off the line.",
                             share_text(fits.front().off_line))) +
         "\n";
}

std::string shape_sweeps_text(const Diagnosis& diagnosis) {
  if (!diagnosis.sweeps_shapes) return "";
  std::string text = heading("Sweep over launches: threads a block, items a thread, registers");
  text += diagnosis.shapes.value ? shapes_text(*diagnosis.shapes.value)
                                 : not_measured("launches", diagnosis.shapes.why_not);
  text += diagnosis.threads.value ? threads_text(*diagnosis.threads.value)
                                  : not_measured("threads", diagnosis.threads.why_not);
  return text;
}

std::string size_name(double bytes) {
  constexpr double kilo = 1024;
  return bytes < kilo * kilo ? fmt::format("{:.0f} KiB", bytes / kilo)
                             : fmt::format("{:.0f} MiB", bytes / kilo / kilo);
}

std::string copies_table(const Roofline& roofline) {
  std::vector<std::string> paths;
  std::vector<double> sizes;
  for (const CopyPoint& point : roofline.points) {
    if (std::find(paths.begin(), paths.end(), point.path) == paths.end())
      paths.push_back(point.path);
    if (std::find(sizes.begin(), sizes.end(), point.bytes) == sizes.end())
      sizes.push_back(point.bytes);
  }
  std::string line;
  for (double size : sizes) line += fmt::format(" {:>9}", size_name(size));
  std::string text = table_line("", 26, line);
  for (const std::string& path : paths) {
    line.clear();
    for (double size : sizes) {
      auto at = std::find_if(roofline.points.begin(), roofline.points.end(),
                             [&](const auto& p) { return p.path == path && p.bytes == size; });
      line += fmt::format(" {:>9}",
                          at == roofline.points.end() ? "-" : number_text(at->gb_per_s.value));
    }
    text += table_line(path, 26, line);
  }
  return text;
}

std::string rates_text(const Roofline& roofline) {
  std::string text = heading("Copies, GB/s of bytes copied, written or read");
  text += copies_table(roofline);
  for (const PathPeak& peak : roofline.peaks)
    text += labeled("peak", fmt::format("{}: {} ({})", peak.paths,
                                        peak.gb_per_s ? fmt::format("{:.1f} GB/s", *peak.gb_per_s)
                                                      : "unknown",
                                        peak.why)) +
            "\n";
  for (const LaunchCost& cost : roofline.launches)
    text += labeled("launch", fmt::format("{}, {}: {}", cost.device, cost.how,
                                          time_text(cost.us.value / 1000))) +
            "\n";
  for (const std::string& missing : roofline.not_measured)
    text += labeled("missing", missing) + "\n";
  return text;
}

}  // namespace

std::string experiments_text(const Diagnosis& diagnosis) {
  std::string text = heading("Experiments");
  if (!diagnosis.object.empty()) text += labeled("on", diagnosis.object) + "\n";
  return text + null_text(diagnosis.null_run) + timed_text(diagnosis.timed) +
         gain_text(diagnosis.gain) + sweep_text(diagnosis.sweep) + shape_sweeps_text(diagnosis) +
         rates_text(diagnosis.roofline);
}

}  // namespace fuseline
