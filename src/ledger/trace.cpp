// Traces: kept in a record, written for Chrome.
#include "ledger/trace.hpp"

#include <algorithm>
#include <map>

#include "base/fail.hpp"
#include "ledger/run_record.hpp"

namespace fuseline {
namespace {

double microseconds(Nanoseconds time) { return static_cast<double>(time) / 1e3; }

Json name_event(const char* what, int process, int thread, const std::string& name) {
  return {
      {"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

Json span_event(const std::string& name, const char* kind, int process, int thread,
                Nanoseconds begin, Nanoseconds end) {
  return {{"name", name},
          {"cat", kind},
          {"ph", "X"},
          {"pid", process},
          {"tid", thread},
          {"ts", microseconds(begin)},
          {"dur", microseconds(end - begin)}};
}

// The run itself is thread 0, lanes follow in the order of their first spans.
void add_side(Json& events, const RunSide& side, int process) {
  const RunTrace& trace = side.series.trace;
  events.push_back(
      name_event("process_name", process, 0, side.label + ": " + command_text(side.command)));
  events.push_back(name_event("thread_name", process, 0, "run"));
  events.push_back(span_event("run", "run", process, 0, 0, trace.wall));
  std::map<std::int64_t, int> threads;
  for (const Span& span : trace.spans) {
    auto [thread, is_new] = threads.try_emplace(span.lane, static_cast<int>(threads.size()) + 1);
    if (is_new)
      events.push_back(name_event("thread_name", process, thread->second,
                                  "thread " + std::to_string(span.lane & 0xffffffff)));
    events.push_back(span_event(span.stage, span.wait ? "wait" : "stage", process, thread->second,
                                span.begin, span.end));
  }
}

}  // namespace

RunTrace trace_of(const std::vector<Span>& spans, Nanoseconds begin, Nanoseconds wall) {
  RunTrace trace{wall, spans, 0};
  if (spans.size() > most_trace_spans) {
    auto last = trace.spans.begin() + most_trace_spans;
    std::nth_element(
        trace.spans.begin(), last, trace.spans.end(),
        [](const Span& a, const Span& b) { return a.end - a.begin > b.end - b.begin; });
    trace.left_out = trace.spans.end() - last;
    trace.spans.erase(last, trace.spans.end());
  }
  for (Span& span : trace.spans) {
    span.begin -= begin;
    span.end -= begin;
  }
  std::stable_sort(trace.spans.begin(), trace.spans.end(),
                   [](const Span& a, const Span& b) { return a.begin < b.begin; });
  return trace;
}

Json trace_json(const RunTrace& trace) {
  Json spans = Json::array();
  for (const Span& span : trace.spans)
    spans.push_back({span.stage, span.lane, span.begin, span.end, span.wait});
  return {{"wall_ns", trace.wall}, {"spans", std::move(spans)}, {"left_out", trace.left_out}};
}

RunTrace trace_from(const Json& json) {
  RunTrace trace;
  trace.wall = json.at("wall_ns");
  trace.left_out = json.at("left_out");
  for (const Json& span : json.at("spans"))
    trace.spans.push_back({span.at(0), span.at(1), span.at(2), span.at(3), span.at(4)});
  return trace;
}

Json chrome_trace(const RunRecord& record) {
  Json events = Json::array();
  std::int64_t left_out = 0;
  for (const RunSide& side : record.sides) left_out += side.series.trace.left_out;
  for (std::size_t side = 0; side < record.sides.size(); ++side)
    if (record.sides[side].series.trace.wall > 0)
      add_side(events, record.sides[side], static_cast<int>(side) + 1);
  if (events.empty())
    fail("run {} keeps no spans: it was measured by an earlier Fuseline", record.id);
  return {{"traceEvents", std::move(events)},
          {"displayTimeUnit", "ms"},
          {"otherData", {{"spans left out", left_out}}}};
}

}  // namespace fuseline
