// Bounds by the names of stages, the number of their spans and the time that they cover.
#include "ledger/diagnose.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

#include "base/fail.hpp"
#include "ledger/text.hpp"

namespace fuseline {
namespace {

struct Word {
  std::string_view word;
  Bound bound;
};

constexpr std::array words = {
    Word{"compile", Bound::start},  Word{"jit", Bound::start},
    Word{"init", Bound::start},     Word{"decode", Bound::input},
    Word{"read", Bound::input},     Word{"load", Bound::input},
    Word{"parse", Bound::input},    Word{"preprocess", Bound::input},
    Word{"pre", Bound::input},      Word{"encode", Bound::output},
    Word{"write", Bound::output},   Word{"save", Bound::output},
    Word{"post", Bound::output},    Word{"postprocess", Bound::output},
    Word{"copy", Bound::copy},      Word{"copies", Bound::copy},
    Word{"memcpy", Bound::copy},    Word{"h2d", Bound::copy},
    Word{"d2h", Bound::copy},       Word{"upload", Bound::copy},
    Word{"download", Bound::copy},  Word{"transfer", Bound::copy},
    Word{"launch", Bound::launch},  Word{"enqueue", Bound::launch},
    Word{"submit", Bound::launch},  Word{"kernel", Bound::kernel},
    Word{"kernels", Bound::kernel}, Word{"compute", Bound::kernel},
    Word{"infer", Bound::kernel},   Word{"inference", Bound::kernel},
    Word{"sync", Bound::sync},      Word{"synchronize", Bound::sync},
    Word{"wait", Bound::sync},
};

std::vector<std::string> tokens_of(const std::string& name) {
  std::vector<std::string> tokens(1);
  for (char c : name) {
    auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter))
      tokens.back() += static_cast<char>(std::tolower(letter));
    else if (!tokens.back().empty())
      tokens.emplace_back();
  }
  return tokens;
}

std::vector<double> removed_time(const Series& series, const std::vector<std::string>& rows) {
  std::vector<double> sum(series.wall.size(), 0.0);
  for (const std::string& row : rows) {
    std::vector<double> times = series.row(row);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += times[i];
  }
  return sum;
}

// How much processor time a second of wall time took: tells computing from waiting.
std::optional<double> processors_busy(const Series& series) {
  auto user = series.resources.find("user"), system = series.resources.find("system");
  double wall = median(series.wall);
  if (user == series.resources.end() || system == series.resources.end() || wall <= 0)
    return std::nullopt;
  return 1000 * (median(user->second) + median(system->second)) / wall;
}

class Diagnosing {
 public:
  explicit Diagnosing(const Observed& observed)
      : observed_(observed), wall_(median(observed.series.wall)) {}

  std::vector<Finding> take() {
    find_small_spans();
    for (const std::string& row : observed_.series.row_names)
      if (std::find(taken_.begin(), taken_.end(), row) == taken_.end())
        add(bound_of_row(row, observed_.kernels), {row}, evidence_of(row));
    rank(findings_);
    return std::move(findings_);
  }

 private:
  double share(double ms) const { return wall_ > 0 ? ms / wall_ : 0; }

  void add(Bound bound, std::vector<std::string> rows, std::string evidence) {
    constexpr double least_share = 0.01;
    double gain = median(removed_time(observed_.series, rows));
    if (share(gain) < least_share) return;
    constexpr double free = std::numeric_limits<double>::infinity();
    Estimate speedup = speedup_with(observed_.series, rows, free);
    findings_.push_back(
        {bound, std::move(rows), gain, speedup, false, std::move(evidence), advice_for(bound)});
  }

  std::string evidence_of(const std::string& row) const {
    double ms = median(observed_.series.row(row));
    std::string text = fmt::format("{} of {}", share_text(share(ms)), time_text(wall_));
    if (row == sync_row) return text + ": no stage runs, threads only wait";
    if (row == unexplained_row) return text + ": outside of all marked stages";
    if (auto spans = observed_.spans.find(row); spans != observed_.spans.end())
      text += fmt::format(", {:.0f} span{} a run", spans->second, spans->second == 1 ? "" : "s");
    constexpr double waits = 0.5;
    auto busy = processors_busy(observed_.series);
    if (busy && share(ms) > waits)
      text += fmt::format("; {:.2f} of {} processors busy{}", *busy, observed_.processors,
                          *busy < waits ? ": it waits, or shares the machine" : "");
    return text;
  }

  // Many short spans with gaps between them: the launches and waits cost, not the work.
  void find_small_spans() {
    constexpr double many = 100, short_us = 50, launch_like_us = 20;
    std::string most;
    double count = 0;
    for (const auto& [stage, spans] : observed_.spans)
      if (spans > count) most = stage, count = spans;
    if (count < many) return;
    double each_us = 1000 * median(observed_.series.busy.at(most)) / count;
    if (each_us > short_us) return;
    std::vector<std::string> rows;
    for (const std::string& row : observed_.series.row_names) {
      Bound bound = bound_of_row(row, observed_.kernels);
      bool small = row == most && each_us <= launch_like_us;
      if (small || row == sync_row || bound == Bound::launch) rows.push_back(row);
    }
    if (rows.empty()) return;
    taken_ = rows;
    double covered = median(removed_time(observed_.series, rows));
    add(Bound::launch, rows,
        fmt::format("{:.0f} spans of {} a run, {} each; with launches and waits between them "
                    "{} a span, {} of {}",
                    count, most, time_text(each_us / 1000), time_text(covered / count),
                    share_text(share(covered)), time_text(wall_)));
  }

  const Observed& observed_;
  double wall_;
  std::vector<std::string> taken_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string_view name_of(Bound bound) {
  switch (bound) {
    case Bound::input:
      return "input-bound";
    case Bound::output:
      return "output-bound";
    case Bound::copy:
      return "copy-bound";
    case Bound::launch:
      return "launch-bound";
    case Bound::kernel:
      return "kernel-bound";
    case Bound::sync:
      return "sync-bound";
    case Bound::start:
      return "start-bound";
    case Bound::stage:
      return "stage-bound";
    case Bound::overlap:
      return "overlap-bound";
    case Bound::unmarked:
      return "unmarked";
  }
  fail_internal("a bound without a name");
}

std::string advice_for(Bound bound) {
  switch (bound) {
    case Bound::input:
      return "decode several inputs at once or ahead, decode at a smaller size, or use a faster "
             "decoder; faster kernels gain nothing here";
    case Bound::output:
      return "write on another thread behind the kernels, or write less";
    case Bound::copy:
      return "copy less (crop, smaller types, fuse what hands data on), from pinned memory, and "
             "while kernels run";
    case Bound::launch:
      return "fuse the small kernels, or record them once and replay them as one launch";
    case Bound::kernel:
      return "faster kernels pay off here: fuse what passes memory in between, then tune";
    case Bound::sync:
      return "wait less often: keep a second item in flight, and wait for events, not for the "
             "whole device";
    case Bound::start:
      return "do it once for many items: keep the process, or a cache of compiled code";
    case Bound::stage:
      return "this is the stage to make faster; mark its parts to see into it";
    case Bound::overlap:
      return "these stages run side by side already; only the slower of them is worth work";
    case Bound::unmarked:
      return "mark more stages; a process that serves many items pays its start only once";
  }
  fail_internal("a bound without advice");
}

Bound bound_of_row(const std::string& row, const std::string& kernels) {
  if (row == unexplained_row) return Bound::unmarked;
  if (row == sync_row) return Bound::sync;
  if (row.starts_with("overlap{")) return Bound::overlap;
  if (row == kernels) return Bound::kernel;
  if (row == "load kernels") return Bound::start;
  for (const std::string& token : tokens_of(row))
    for (const Word& known : words)
      if (token == known.word) return known.bound;
  return Bound::stage;
}

Estimate speedup_with(const Series& series, const std::vector<std::string>& rows, double factor) {
  std::vector<double> times = removed_time(series, rows);
  std::vector<BlockPair> pairs;
  // A run that is nothing but these rows would leave no time; a nanosecond keeps the ratio finite.
  constexpr double least_ms = 1e-6;
  for (std::size_t i = 0; i < times.size(); ++i)
    pairs.push_back(
        {series.wall[i], std::max(series.wall[i] - times[i] * (1 - 1 / factor), least_ms)});
  return paired_ratio(pairs);
}

WhatIf what_if(const Observed& observed, const std::string& stage, double factor) {
  const Series& series = observed.series;
  bool own_row =
      std::find(series.row_names.begin(), series.row_names.end(), stage) != series.row_names.end();
  bool hidden = !own_row && series.busy.contains(stage);
  if (!own_row && !hidden)
    fail("--what-if: no stage \"{}\" was marked; there are: {}", stage,
         fmt::join(series.row_names, ", "));
  std::vector<double> after, times = series.row(stage);
  for (std::size_t i = 0; i < times.size(); ++i)
    after.push_back(series.wall[i] - times[i] * (1 - 1 / factor));
  return {stage,
          factor,
          median_interval(series.wall),
          median_interval(after),
          speedup_with(series, {stage}, factor),
          hidden};
}

std::vector<Finding> findings_of(const Observed& observed) { return Diagnosing(observed).take(); }

void rank(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.gain_ms > b.gain_ms; });
}

}  // namespace fuseline
