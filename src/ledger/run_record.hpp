// One entry of the ledger: what was measured, where, with which times.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "ledger/account.hpp"
#include "ledger/bench.hpp"

namespace fuseline {

struct RunSide {
  std::string label;                 // "before" and "after"; "run" where there is one side
  std::string options;               // what distinguishes it, as the user wrote it
  std::vector<std::string> command;  // all words
  Series series;
};

struct RunSettings {
  double threshold = 0.02;
  std::string kernels;     // the stage that is kernels; empty: none
  double target_ms = 0;    // 0: none
  std::int64_t items = 0;  // 0: no projection
  std::string rate;        // "poisson:30"; empty: no load
  std::string per;         // a run is the median span of this stage; empty: the process
};

// What kernels that do nothing save of an end-to-end time, measured.
struct NullKernels {
  std::optional<Estimate> saved_ms;
  std::string why_not;  // where it was not measured

  // End to end, were kernels free.
  std::optional<Estimate> ceiling_of(double whole_ms) const;
};

struct RunRecord {
  std::int64_t id = 0;         // of the ledger; 0: not kept
  std::string name;            // may be empty
  std::string created;         // UTC, "2026-01-31T12:00:00Z"
  std::vector<RunSide> sides;  // one, or before and after
  RunSettings settings;
  Json environment;
  std::vector<std::string> warnings;
  NullKernels null_kernels;  // of the first side

  bool two_sided() const { return sides.size() == 2; }
  const RunSide& last() const { return sides.back(); }
};

// The two sides of a record as an account: a block is two runs of each side.
Account account_of(const RunRecord& record);

// The record without its measurements, and back; Error for JSON that is not such a record.
Json meta_json(const RunRecord& record);
RunRecord record_from_meta(const Json& meta);

// The measurements as named columns: "wall", "row:decode", "busy:decode", "resource:peak", ...
struct Column {
  std::size_t side = 0;
  std::string name;
  std::vector<double> values;
};
std::vector<Column> columns_of(const RunRecord& record);
void put_column(RunRecord& record, Column column);

// The words as a shell would take them.
std::string command_text(const std::vector<std::string>& words);

}  // namespace fuseline
