// The spans of one typical run, to be looked at on a timeline.
#pragma once

#include <cstdint>
#include <vector>

#include "base/json.hpp"
#include "ledger/timeline.hpp"

namespace fuseline {

struct RunRecord;

struct RunTrace {
  Nanoseconds wall = 0;
  std::vector<Span> spans;    // times from the begin of the run
  std::int64_t left_out = 0;  // the shortest ones, where there are too many to keep
};

inline constexpr std::size_t most_trace_spans = 2000;

// Of a run that began at `begin`.
RunTrace trace_of(const std::vector<Span>& spans, Nanoseconds begin, Nanoseconds wall);

Json trace_json(const RunTrace& trace);
RunTrace trace_from(const Json& json);  // throws what reading JSON throws

// The format of chrome://tracing and Perfetto: a process for each side with its typical run, a
// thread for each lane. Error where the record keeps no spans.
Json chrome_trace(const RunRecord& record);

}  // namespace fuseline
