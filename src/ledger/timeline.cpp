// The sweep over begins and ends that closes an account.
#include "ledger/timeline.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/fail.hpp"

namespace fuseline {
namespace {

constexpr int no_stage = -1;

struct Event {
  Nanoseconds time;
  bool opens;  // ends come before begins of the same instant
  std::size_t span;
};

// Numbers for names, in the order in which they came.
class Names {
 public:
  int number(const std::string& name) {
    auto [found, added] = numbers_.try_emplace(name, static_cast<int>(names_.size()));
    if (added) names_.push_back(name);
    return found->second;
  }
  const std::string& name(int number) const { return names_[static_cast<std::size_t>(number)]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::map<std::string, int> numbers_;
  std::vector<std::string> names_;
};

std::vector<Event> events_of(std::span<const Span> spans, Nanoseconds begin, Nanoseconds end) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    Nanoseconds from = std::max(spans[i].begin, begin), to = std::min(spans[i].end, end);
    if (from >= to) continue;
    events.push_back({from, true, i});
    events.push_back({to, false, i});
  }
  // Of those that open together the longer ones are the outer ones.
  std::stable_sort(events.begin(), events.end(), [&](const Event& a, const Event& b) {
    if (a.time != b.time) return a.time < b.time;
    if (a.opens != b.opens) return b.opens;
    if (!a.opens) return false;
    const Span &one = spans[a.span], &other = spans[b.span];
    return one.begin != other.begin ? one.begin < other.begin : one.end > other.end;
  });
  return events;
}

// What all lanes are doing at the sweep's instant.
class Activity {
 public:
  Activity(std::span<const Span> spans, Names& stages) : spans_(spans), stages_(stages) {}

  void apply(const Event& event) {
    Lane& lane = lanes_[spans_[event.span].lane];
    leave(lane);
    if (event.opens)
      lane.open.push_back(event.span);
    else
      lane.open.erase(std::find(lane.open.begin(), lane.open.end(), event.span));
    enter(lane);
  }

  std::string row() const {
    if (active_.empty()) return waiting_ > 0 ? sync_row : unexplained_row;
    if (active_.size() == 1) return stages_.name(active_.begin()->first);
    std::set<std::string> names;
    for (const auto& [stage, lanes] : active_) names.insert(stages_.name(stage));
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "overlap{" : "+") + name;
    return text + "}";
  }

 private:
  struct Lane {
    std::vector<std::size_t> open;  // in the order of their begins
  };

  void leave(const Lane& lane) {
    if (lane.open.empty()) return;
    const Span& span = spans_[lane.open.back()];
    if (span.wait) {
      --waiting_;
      return;
    }
    auto found = active_.find(stages_.number(span.stage));
    if (--found->second == 0) active_.erase(found);
  }
  void enter(const Lane& lane) {
    if (lane.open.empty()) return;
    const Span& span = spans_[lane.open.back()];
    if (span.wait)
      ++waiting_;
    else
      ++active_[stages_.number(span.stage)];
  }

  std::span<const Span> spans_;
  Names& stages_;
  std::map<std::int64_t, Lane> lanes_;
  std::map<int, int> active_;  // stage -> lanes that are in it
  int waiting_ = 0;
};

std::vector<ClosedAccount::Row> sweep(std::span<const Span> spans, const std::vector<Event>& events,
                                      Nanoseconds begin, Nanoseconds end) {
  Names stages, rows;
  std::vector<Nanoseconds> times;
  auto add = [&](const std::string& row, Nanoseconds time) {
    auto number = static_cast<std::size_t>(rows.number(row));
    times.resize(rows.size());
    times[number] += time;
  };
  if (std::any_of(events.begin(), events.end(), [&](const Event& e) { return spans[e.span].wait; }))
    add(sync_row, 0);
  Activity activity(spans, stages);
  Nanoseconds now = begin;
  for (const Event& event : events) {
    if (event.time > now) add(activity.row(), event.time - now);
    now = event.time;
    activity.apply(event);
  }
  if (end > now) add(activity.row(), end - now);
  add(unexplained_row, 0);
  std::vector<ClosedAccount::Row> answer;
  for (std::size_t i = 0; i < times.size(); ++i)
    answer.push_back({rows.name(static_cast<int>(i)), times[i]});
  // Stages first, then what is none.
  auto place = [](const ClosedAccount::Row& row) {
    if (row.name == unexplained_row) return 3;
    if (row.name == sync_row) return 2;
    return row.name.starts_with("overlap{") ? 1 : 0;
  };
  std::stable_sort(answer.begin(), answer.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return answer;
}

// Depth of open spans of one stage on one lane, so that nested ones count once.
std::vector<ClosedAccount::Busy> busy_times(std::span<const Span> spans,
                                            const std::vector<Event>& events) {
  Names stages;
  std::vector<ClosedAccount::Busy> busy;
  std::map<std::pair<int, std::int64_t>, std::pair<int, Nanoseconds>> open;  // depth, since when
  for (const Event& event : events) {
    const Span& span = spans[event.span];
    if (span.wait) continue;
    int stage = stages.number(span.stage);
    if (stages.size() > busy.size()) busy.push_back({span.stage, 0, 0});
    auto& [depth, since] = open[{stage, span.lane}];
    if (event.opens) {
      ++busy[static_cast<std::size_t>(stage)].spans;
      if (depth++ == 0) since = event.time;
    } else if (--depth == 0) {
      busy[static_cast<std::size_t>(stage)].time += event.time - since;
    }
  }
  return busy;
}

}  // namespace

ClosedAccount close_account(std::span<const Span> spans, Nanoseconds begin, Nanoseconds end) {
  require(begin <= end, "an account that ends before it begins");
  for (const Span& span : spans)
    require(span.begin <= span.end, "a span that ends before it begins");
  std::vector<Event> events = events_of(spans, begin, end);
  return {end - begin, sweep(spans, events, begin, end), busy_times(spans, events)};
}

ClosedAccount account_of_median(std::span<const Span> spans, const std::string& stage) {
  std::vector<Span> windows, others;
  for (const Span& span : spans)
    (span.stage == stage && !span.wait ? windows : others).push_back(span);
  if (windows.empty()) fail("the program marks no stage \"{}\"", stage);
  auto middle = windows.begin() + std::ssize(windows) / 2;
  std::nth_element(windows.begin(), middle, windows.end(),
                   [](const Span& a, const Span& b) { return a.end - a.begin < b.end - b.begin; });
  return close_account(others, middle->begin, middle->end);
}

}  // namespace fuseline
