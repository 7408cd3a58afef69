// Tables of swept shapes and threads.
#include "ledger/diagnose_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ledger/account.hpp"
#include "ledger/text.hpp"

namespace fuseline {
namespace {

// What two rounds of the same launch differ by.
constexpr double noise = 0.02;

std::string known(const std::optional<int>& value) { return value ? std::to_string(*value) : "-"; }

std::string verdict_of(const ShapeSweep& sweep) {
  const ShapeRow& taken = sweep.rows[sweep.taken];
  const ShapeRow& best = sweep.rows[sweep.best()];
  std::string shape = fmt::format("{} threads x {}", taken.threads, taken.items);
  if (sweep.taken_is_best())
    return fmt::format("taken: {}; nothing tried is faster by more than {}", shape,
                       share_text(noise));
  return fmt::format("taken: {}; {} threads x {}{} is {} faster", shape, best.threads, best.items,
                     best.resident ? fmt::format(" with {} blocks resident", best.resident) : "",
                     share_text(1 - best.us / taken.us));
}

Json optional_json(const auto& value) { return value ? Json(*value) : Json(nullptr); }

Json row_json(const ShapeRow& row) {
  return {{"threads", row.threads},
          {"items_per_thread", row.items},
          {"resident_blocks", row.resident ? Json(row.resident) : Json(nullptr)},
          {"us", row.us},
          {"registers", optional_json(row.registers)},
          {"spill_bytes", optional_json(row.spill_bytes)},
          {"occupancy", optional_json(row.occupancy)}};
}

}  // namespace

std::size_t ShapeSweep::best() const {
  auto faster = [](const ShapeRow& a, const ShapeRow& b) { return a.us < b.us; };
  return static_cast<std::size_t>(std::min_element(rows.begin(), rows.end(), faster) -
                                  rows.begin());
}

bool ShapeSweep::taken_is_best() const { return rows[best()].us >= (1 - noise) * rows[taken].us; }

std::string shapes_text(const std::vector<ShapeSweep>& sweeps) {
  std::string text;
  for (const ShapeSweep& sweep : sweeps) {
    text += cut(sweep.kernel, report_width) + "\n";
    text += fmt::format("{:>9} {:>6} {:>9} {:>10} {:>10} {:>7} {:>10}\n", "threads", "items",
                        "resident", "us", "registers", "spills", "occupancy");
    for (std::size_t i = 0; i < sweep.rows.size(); ++i) {
      const ShapeRow& row = sweep.rows[i];
      const char* marker = i == sweep.taken ? "  taken" : i == sweep.best() ? "  best" : "";
      text += fmt::format("{:>9} {:>6} {:>9} {:>10} {:>10} {:>7} {:>10}{}\n", row.threads,
                          row.items, row.resident ? std::to_string(row.resident) : "-",
                          number_text(row.us), known(row.registers), known(row.spill_bytes),
                          row.occupancy ? share_text(*row.occupancy) : "-", marker);
    }
    text += wrapped(verdict_of(sweep)) + "\n";
  }
  return text;
}

Json shapes_json(const std::vector<ShapeSweep>& sweeps) {
  Json all = Json::array();
  for (const ShapeSweep& sweep : sweeps) {
    Json rows = Json::array();
    for (const ShapeRow& row : sweep.rows) rows.push_back(row_json(row));
    all.push_back({{"kernel", sweep.kernel},
                   {"rows", std::move(rows)},
                   {"taken", sweep.taken},
                   {"best", sweep.best()},
                   {"taken_is_best", sweep.taken_is_best()}});
  }
  return all;
}

namespace {

// The ratio of the usual number's time to that of the row; above 1 the row is faster.
std::size_t fastest(const ThreadSweep& sweep) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < sweep.rows.size(); ++i)
    if (median(sweep.rows[i].series.wall) < median(sweep.rows[best].series.wall)) best = i;
  return best;
}

Estimate against_usual(const ThreadSweep& sweep, const ThreadRow& row) {
  for (const ThreadRow& usual : sweep.rows)
    if (usual.threads == sweep.usual) return unpaired_ratio(usual.series.wall, row.series.wall);
  return unpaired_ratio(sweep.rows.back().series.wall, row.series.wall);
}

}  // namespace

std::string threads_text(const ThreadSweep& sweep) {
  TimeUnit unit{"ms", 1};
  std::string text = fmt::format("{:>9}  {:<26} {}\n", "threads", "end to end, ms [95 %]",
                                 "against the usual number");
  for (const ThreadRow& row : sweep.rows)
    text += fmt::format(
        "{:>9}  {:<26} {}{}\n", row.threads, interval_text(median_interval(row.series.wall), unit),
        times_text(against_usual(sweep, row)), row.threads == sweep.usual ? "  taken" : "");
  const ThreadRow& best = sweep.rows[fastest(sweep)];
  Estimate gain = against_usual(sweep, best);
  bool better = best.threads != sweep.usual && gain.low > 1 + noise;
  return text +
         wrapped(better ? fmt::format("--threads {} is faster: {}", best.threads, times_text(gain))
                        : "no other number of threads is faster beyond the noise") +
         "\n";
}

Json threads_json(const ThreadSweep& sweep) {
  Json rows = Json::array();
  for (const ThreadRow& row : sweep.rows)
    rows.push_back({{"threads", row.threads},
                    {"wall_ms", estimate_json(median_interval(row.series.wall))},
                    {"speedup", estimate_json(against_usual(sweep, row))}});
  return {{"rows", std::move(rows)},
          {"taken", sweep.usual},
          {"fastest", sweep.rows[fastest(sweep)].threads}};
}

}  // namespace fuseline
