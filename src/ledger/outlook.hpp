// What measured times mean for a user: is the deadline met, what do N items cost, when does a
// dearer start pay off.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "ledger/run_record.hpp"

namespace fuseline {

struct Deadline {
  double target_ms = 0;
  double share_within = 0;  // of the runs
  double p95_ms = 0;
  bool met = false;        // by 95 % of the runs
  std::string next_stage;  // the largest row that is left; empty where nothing is marked
  double next_stage_ms = 0;
  double ceiling_ms = 0;  // the median, were that stage free
};
// Of the last side, from the intended start where there was a load. None without a target.
std::optional<Deadline> deadline_of(const RunRecord& record);

struct Projection {
  std::int64_t items = 0;
  // Of each side: its cold run and items - 1 warm ones.
  std::vector<double> total_ms;
  std::optional<double> extra_cold_ms;       // of the second side
  std::optional<double> saving_per_item_ms;  // of the second side
  // Items from which the second side is ahead; none where it never is.
  std::optional<std::int64_t> break_even;
};
// None without a number of items.
std::optional<Projection> projection_of(const RunRecord& record);

Json deadline_json(const std::optional<Deadline>& deadline);
Json projection_json(const std::optional<Projection>& projection);
std::string deadline_text(const Deadline& deadline);
std::string projection_text(const Projection& projection);

}  // namespace fuseline
