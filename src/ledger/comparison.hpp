// Two stored runs against each other: they were not interleaved, so only their distributions can be
// compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ledger/run_record.hpp"

namespace fuseline {

struct ComparedRow {
  std::string name;
  Summary before, after;
  std::optional<Estimate> speedup;  // before / after; none where a time is missing or zero
  double adjusted_p = 1;            // Mann-Whitney; over the stages by Holm
  std::optional<double> noise_floor;
  Verdict verdict = Verdict::inconclusive;
};

struct Comparison {
  std::string before, after;  // what the two runs are
  std::vector<ComparedRow> stages;
  ComparedRow total;
  std::vector<std::string> notes;
};

// Of the last sides of both. Error where the hardware differs, unless `force`: then a note says so.
// Below nine runs of a side every verdict is INCONCLUSIVE. The noise floor is what the halves of
// each run differ by.
Comparison compare_records(const RunRecord& before, const RunRecord& after, double threshold,
                           bool force);

std::string comparison_text(const Comparison& comparison);
Json comparison_json(const Comparison& comparison);

}  // namespace fuseline
