// Lines of the report beside the account: processor time, memory, kernels alone, null run, clocks.
#include <fmt/format.h>

#include <algorithm>

#include "ledger/clocks.hpp"
#include "ledger/report.hpp"
#include "ledger/run_watch.hpp"
#include "ledger/text.hpp"

namespace fuseline {
namespace {

using Lines = std::vector<std::string>;

std::optional<double> resource(const Series& series, const char* name) {
  auto found = series.resources.find(name);
  if (found == series.resources.end()) return std::nullopt;
  return median(found->second);
}

// Before, peak and after; what was not seen is left out.
void add_memory(Lines& lines, const Series& series, const std::string& who) {
  std::string text;
  auto add = [&](const char* name, const char* what) {
    if (auto bytes = resource(series, name))
      text += (text.empty() ? "" : ", ") + bytes_text(*bytes) + " " + what;
  };
  add(seen::start_bytes, "at the start");
  add("peak", "at most");
  add(seen::end_bytes, "before the end");
  if (!text.empty()) lines.push_back(labeled("memory", who + text));
  text.clear();
  add(seen::gpu_before_bytes, "before");
  add(seen::gpu_peak_bytes, "at most");
  add(seen::gpu_after_bytes, "after");
  if (!text.empty()) lines.push_back(labeled("gpu memory", who + text));
}

void add_process(Lines& lines, const Series& series, const std::string& who) {
  auto user = resource(series, "user"), system = resource(series, "system");
  if (user && system)
    lines.push_back(
        labeled("process", fmt::format("{}user {}, system {}", who, time_text(1000 * *user),
                                       time_text(1000 * *system))));
  add_memory(lines, series, who);
}

// Kernels that were timed by themselves, never without the end-to-end speed-up.
void add_kernels_alone(Lines& lines, const RunRecord& record) {
  std::vector<std::vector<double>> times;
  for (const RunSide& side : record.sides) {
    auto found = side.series.resources.find(seen::kernel_alone_ms);
    if (found == side.series.resources.end()) return;
    times.push_back(found->second);
  }
  if (times.size() != 2) return;
  Estimate before = median_interval(times[0]), after = median_interval(times[1]);
  TimeUnit unit = unit_for(std::max(before.high, after.high));
  lines.push_back(labeled(
      "kernel only", fmt::format("{} -> {} {}, {}; end to end {}", interval_text(before, unit),
                                 interval_text(after, unit), unit.name,
                                 times_text(unpaired_ratio(times[0], times[1])),
                                 times_text(summarize(account_of(record)).end_to_end_speedup))));
}

void add_null_run(Lines& lines, const RunRecord& record) {
  const NullKernels& null = record.null_kernels;
  const std::vector<std::string>& command = record.sides.front().command;
  bool ours = !command.empty() && command.front() == "fuseline";
  if (!ours || (!null.saved_ms && null.why_not.empty())) return;
  auto ceiling = null.ceiling_of(median(record.sides.front().series.wall));
  std::string text;
  if (ceiling)
    text = times_text(*ceiling) + " end to end with kernels that do nothing";
  else if (null.saved_ms)
    text = "saves " + time_text(null.saved_ms->value) + " a frame, more than a run takes";
  else
    text = "not measured: " + null.why_not;
  lines.push_back(labeled("null run", text));
}

}  // namespace

std::vector<std::string> resource_lines(const RunRecord& record) {
  Lines lines;
  for (const RunSide& side : record.sides)
    add_process(lines, side.series, record.two_sided() ? side.label + ": " : "");
  add_kernels_alone(lines, record);
  add_null_run(lines, record);
  std::string label = "clocks";
  for (const ClockShare& share : clock_shares(record)) {
    lines.push_back(labeled(label, clock_text(share)));
    label.clear();
  }
  return lines;
}

}  // namespace fuseline
