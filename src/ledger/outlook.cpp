// Deadlines and projections.
#include "ledger/outlook.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ledger/text.hpp"

namespace fuseline {
namespace {

// Extra cost of the cold run over a warm one; noise can make it seem negative.
double cold_extra(const Series& series, double warm) { return std::max(0.0, series.cold() - warm); }

}  // namespace

std::optional<Deadline> deadline_of(const RunRecord& record) {
  if (record.settings.target_ms <= 0) return std::nullopt;
  const Series& series = record.last().series;
  const std::vector<double>& times = series.latency.empty() ? series.wall : series.latency;
  Deadline deadline;
  deadline.target_ms = record.settings.target_ms;
  auto within = std::count_if(times.begin(), times.end(),
                              [&](double time) { return time <= deadline.target_ms; });
  deadline.share_within = static_cast<double>(within) / static_cast<double>(times.size());
  deadline.p95_ms = quantile(times, 0.95);
  deadline.met = deadline.p95_ms <= deadline.target_ms;
  for (std::size_t i = 0; i < series.rows.size(); ++i) {
    if (series.row_names.size() == 1) break;  // only "unexplained"
    double time = median(series.rows[i]);
    if (time <= deadline.next_stage_ms) continue;
    deadline.next_stage = series.row_names[i];
    deadline.next_stage_ms = time;
  }
  deadline.ceiling_ms = median(series.wall) - deadline.next_stage_ms;
  return deadline;
}

std::optional<Projection> projection_of(const RunRecord& record) {
  if (record.settings.items <= 0) return std::nullopt;
  Projection projection;
  projection.items = record.settings.items;
  std::vector<double> warm, cold;
  for (const RunSide& side : record.sides) {
    warm.push_back(median(side.series.wall));
    cold.push_back(cold_extra(side.series, warm.back()));
    projection.total_ms.push_back(cold.back() +
                                  static_cast<double>(projection.items) * warm.back());
  }
  if (!record.two_sided()) return projection;
  double extra = cold[1] - cold[0], saving = warm[0] - warm[1];
  projection.extra_cold_ms = extra;
  projection.saving_per_item_ms = saving;
  constexpr double most = 1e15;
  if (extra <= 0 && saving >= 0)
    projection.break_even = 1;
  else if (saving > 0 && extra / saving < most)
    projection.break_even = static_cast<std::int64_t>(std::floor(extra / saving)) + 1;
  return projection;
}

Json deadline_json(const std::optional<Deadline>& deadline) {
  if (!deadline) return nullptr;
  bool staged = !deadline->next_stage.empty();
  return {{"target_ms", deadline->target_ms},
          {"met", deadline->met},
          {"share_within", deadline->share_within},
          {"p95_ms", deadline->p95_ms},
          {"next_stage", staged ? Json(deadline->next_stage) : Json(nullptr)},
          {"next_stage_ms", staged ? Json(deadline->next_stage_ms) : Json(nullptr)},
          {"ceiling_ms", staged ? Json(deadline->ceiling_ms) : Json(nullptr)}};
}

Json projection_json(const std::optional<Projection>& projection) {
  if (!projection) return nullptr;
  auto number = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  return {{"items", projection->items},
          {"total_ms", projection->total_ms},
          {"extra_cold_ms", number(projection->extra_cold_ms)},
          {"saving_per_item_ms", number(projection->saving_per_item_ms)},
          {"break_even_items", number(projection->break_even)}};
}

std::string deadline_text(const Deadline& deadline) {
  std::string text = fmt::format("target {} {}: {} of the runs within it, p95 {}",
                                 time_text(deadline.target_ms), deadline.met ? "met" : "NOT met",
                                 share_text(deadline.share_within), time_text(deadline.p95_ms));
  if (deadline.next_stage.empty()) return text + "; no stages are marked";
  return text + fmt::format("; next: {} ({}), were it free: {}", deadline.next_stage,
                            time_text(deadline.next_stage_ms), time_text(deadline.ceiling_ms));
}

std::string projection_text(const Projection& projection) {
  std::string text =
      fmt::format("{} items: {}", projection.items, time_text(projection.total_ms.front()));
  if (projection.total_ms.size() < 2) return text + ", the cold run included";
  text += fmt::format(
      " before, {} after; {} {} an item, cold cost {}{}", time_text(projection.total_ms.back()),
      *projection.saving_per_item_ms >= 0 ? "saves" : "costs",
      time_text(std::abs(*projection.saving_per_item_ms)),
      *projection.extra_cold_ms >= 0 ? "+" : "", time_text(*projection.extra_cold_ms));
  if (!projection.break_even) return text + "; never pays off";
  return text + fmt::format("; ahead from item {}", *projection.break_even);
}

}  // namespace fuseline
