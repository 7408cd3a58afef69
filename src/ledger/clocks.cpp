// Clocks of both sides, and the part of the gain that they can explain.
#include "ledger/clocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ledger/environment.hpp"
#include "ledger/run_watch.hpp"
#include "ledger/text.hpp"

namespace fuseline {
namespace {

std::string mhz_text(const Estimate& mhz) { return fmt::format("{:.0f}", mhz.value); }

// Time goes with one over the clock: at the second side's clock the first had taken
// time * first / second.
Estimate saved_by(const std::vector<double>& before, const std::vector<double>& after,
                  double time_ms) {
  Estimate ratio = unpaired_ratio(before, after);
  return {time_ms * (1 - ratio.value), time_ms * (1 - ratio.high), time_ms * (1 - ratio.low), 0};
}

void measure(ClockShare& share, const RunRecord& record, const char* resource, double time_ms) {
  std::vector<const std::vector<double>*> clocks;
  for (const RunSide& side : record.sides) {
    auto found = side.series.resources.find(resource);
    if (found == side.series.resources.end()) return;
    clocks.push_back(&found->second);
  }
  share.why_not.clear();
  for (const auto* values : clocks) share.mhz.push_back(median_interval(*values));
  if (record.two_sided()) share.saved_ms = saved_by(*clocks[0], *clocks[1], time_ms);
}

bool has_gpu(const RunRecord& record) {
  Json gpus = record.environment.value("hardware", Json::object()).value("gpus", Json::array());
  return gpus.is_array() && !gpus.empty();
}

}  // namespace

std::vector<ClockShare> clock_shares(const RunRecord& record) {
  const Series& first = record.sides.front().series;
  std::vector<ClockShare> shares;
  ClockShare cpu{
      "CPU", {}, "the system tells no clock of its processors (cpufreq)", {}, "all time"};
  measure(cpu, record, seen::cpu_mhz, median(first.wall));
  shares.push_back(std::move(cpu));
  if (!has_gpu(record)) return shares;
  ClockShare gpu{
      "GPU", {}, "no GPU memory was taken while the program was looked at", {}, "all time"};
  double time = median(first.wall);
  if (const std::string& kernels = record.settings.kernels;
      std::find(first.row_names.begin(), first.row_names.end(), kernels) != first.row_names.end()) {
    gpu.follows = kernels;
    time = median(first.row(kernels));
  }
  measure(gpu, record, seen::gpu_mhz, time);
  shares.push_back(std::move(gpu));
  return shares;
}

std::string clock_text(const ClockShare& share) {
  if (share.mhz.empty()) return share.name + " not measured: " + share.why_not;
  std::string text = share.name + " " + mhz_text(share.mhz.front());
  if (share.mhz.size() == 2) text += " -> " + mhz_text(share.mhz.back());
  text += " MHz";
  if (!share.saved_ms) return text;
  TimeUnit unit = unit_for(std::max(std::abs(share.saved_ms->low), std::abs(share.saved_ms->high)));
  return text + fmt::format(": {} {} of what was saved, if {} follow{} the clock",
                            interval_text(*share.saved_ms, unit), unit.name, share.follows,
                            share.follows == "all time" ? "s" : "");
}

Json clocks_json(const std::vector<ClockShare>& shares) {
  Json all = Json::array();
  for (const ClockShare& share : shares) {
    Json mhz = Json::array();
    for (const Estimate& one : share.mhz) mhz.push_back(estimate_json(one));
    all.push_back({{"name", share.name},
                   {"mhz", std::move(mhz)},
                   {"saved_ms", estimate_json(share.saved_ms)},
                   {"follows", share.follows},
                   {"why_not", share.why_not.empty() ? Json(nullptr) : Json(share.why_not)}});
  }
  return all;
}

}  // namespace fuseline
