// Findings: rows of the account, and what the experiments say of them.
#include <fmt/format.h>

#include <algorithm>

#include "ledger/diagnose_report.hpp"
#include "ledger/text.hpp"

namespace fuseline {
namespace {

constexpr double least_share = 0.01;  // of a run; what gains less is no finding

// End to end, were so much of a run gone.
Estimate speedup_without(double wall_ms, const Estimate& gain_ms) {
  auto at = [&](double gain) { return wall_ms / std::max(wall_ms - gain, 1e-6); };
  return {at(gain_ms.value), at(gain_ms.low), at(gain_ms.high), gain_ms.n};
}

class Concluding {
 public:
  explicit Concluding(Diagnosis& diagnosis)
      : diagnosis_(diagnosis), wall_(median(diagnosis.observed.series.wall)) {}

  void run() {
    diagnosis_.findings = findings_of(diagnosis_.observed);
    for (Finding& finding : diagnosis_.findings)
      if (finding.bound == Bound::copy) add_copy_rate(finding);
    if (diagnosis_.null_run.value) use_null_run(ceiling_of(*diagnosis_.null_run.value));
    add_fixed_cost();
    rank(diagnosis_.findings);
  }

 private:
  void add(Bound bound, std::vector<std::string> rows, const Estimate& gain, std::string evidence) {
    if (gain.value < least_share * wall_) return;
    diagnosis_.findings.push_back({bound, std::move(rows), gain.value, speedup_without(wall_, gain),
                                   true, std::move(evidence), advice_for(bound)});
  }

  // What a stage that copies could have moved in its time, at the measured rate.
  void add_copy_rate(Finding& finding) const {
    constexpr double large = 256e6;
    auto rate = rate_near(diagnosis_.roofline, host_path(1), large);
    if (!rate) return;
    finding.evidence += fmt::format(
        "; one thread copies {:.1f} GB/s here, {} in that time: if fewer bytes move, the "
        "copy itself is slow",
        *rate, bytes_text(*rate * 1e6 * finding.gain_ms));
  }

  // What the experiments measured takes the place of what the row of the kernels could gain by
  // arithmetic: the row holds copies and launches as well.
  void use_null_run(const NullCeiling& ceiling) {
    const std::string& kernels = diagnosis_.observed.kernels;
    std::string row;
    for (auto found = diagnosis_.findings.begin(); found != diagnosis_.findings.end();)
      if (found->bound == Bound::kernel && found->rows == std::vector{kernels}) {
        row = found->evidence + "; ";
        found = diagnosis_.findings.erase(found);
      } else {
        ++found;
      }
    const std::string& frame = diagnosis_.null_run.value->frame;
    add(Bound::kernel, {kernels}, ceiling.kernels_ms,
        fmt::format("{}with kernels that do nothing a {} is {} faster, arithmetic says {}", row,
                    frame, times_text(ceiling.measured), times_text(ceiling.arithmetic)));
    if (!diagnosis_.null_run.value->no_kernels.empty())
      add(Bound::launch, {kernels}, ceiling.launches_ms,
          fmt::format("a {} takes {} with kernels that do nothing and {} without launches", frame,
                      time_text(ceiling.null_ms.value), time_text(ceiling.no_kernels_ms.value)));
    if (diagnosis_.timed.value) add_copies(*diagnosis_.timed.value);
  }

  std::string copy_text(const DeviceStep& step) const {
    constexpr double bytes_per_us_to_gb = 1e-3;
    bool up = step.kind == DeviceStep::Kind::upload;
    std::string text =
        fmt::format("{} of {}: {} in {}, {:.1f} GB/s", up ? "upload" : "download", step.name,
                    bytes_text(step.bytes), time_text(step_us(step) / 1000),
                    step.bytes / std::max(step_us(step), 1e-3) * bytes_per_us_to_gb);
    auto rate = rate_near(diagnosis_.roofline, up ? "to the GPU, pinned" : "from the GPU, pinned",
                          step.bytes);
    if (rate) text += fmt::format(" ({:.1f} from pinned memory)", *rate);
    return text;
  }

  void add_copies(const TimedRun& run) {
    constexpr double us_per_ms = 1000;
    std::vector<double> sums(run.plain.size(), 0.0);
    const DeviceStep* largest = nullptr;
    for (const DeviceStep& step : run.steps) {
      if (step.kind == DeviceStep::Kind::kernel) continue;
      for (std::size_t i = 0; i < std::min(sums.size(), step.us.size()); ++i)
        sums[i] += step.us[i] / us_per_ms;
      if (!largest || step_us(step) > step_us(*largest)) largest = &step;
    }
    if (!largest) return;
    add(Bound::copy, {diagnosis_.observed.kernels}, median_interval(sums),
        "the device's clock: " + copy_text(*largest));
  }

  // The fixed part is no row of the account, but lies in several of them.
  void add_fixed_cost() {
    constexpr double worth_telling = 0.1;
    if (!diagnosis_.sweep.value) return;
    const Sweep& sweep = *diagnosis_.sweep.value;
    SizeFit fit = fit_sizes(sweep.points).front();
    if (fit.fixed_ms.low <= 0 || fit.fixed_ms.value < worth_telling * wall_) return;
    Finding finding;
    finding.bound = Bound::start;
    finding.gain_ms = std::min(fit.fixed_ms.value, wall_);
    finding.speedup = speedup_without(wall_, fit.fixed_ms);
    finding.measured = true;
    finding.evidence =
        fmt::format("{} of a run do not depend on the size of the input, {} a {} do",
                    time_text(fit.fixed_ms.value), time_text(fit.per_unit_ms.value), sweep.unit);
    finding.advice = "give one process many inputs: the fixed part is paid once";
    diagnosis_.findings.push_back(std::move(finding));
  }

  Diagnosis& diagnosis_;
  double wall_;
};

}  // namespace

void conclude(Diagnosis& diagnosis) { Concluding(diagnosis).run(); }

}  // namespace fuseline
