// The closed account: every instant of wall time belongs to exactly one row.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fuseline {

// Nanoseconds of one clock; which clock does not matter here.
using Nanoseconds = std::int64_t;

// A stage, or a wait, that was open on one lane: a thread, or the queue of a device. Spans of a
// lane may nest; the one that began last is what the lane is doing; of those that
// began together, the one that ends first.
struct Span {
  std::string stage;
  std::int64_t lane = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  bool wait = false;  // the lane does nothing but wait for another
};

struct ClosedAccount {
  struct Row {
    std::string name;
    Nanoseconds time = 0;
  };
  struct Busy {
    std::string stage;
    Nanoseconds time = 0;  // summed over the lanes; nested spans of one stage count once
    std::int64_t spans = 0;
  };
  Nanoseconds wall = 0;
  std::vector<Row> rows;   // sum to `wall`; the last one is "unexplained"
  std::vector<Busy> busy;  // may sum to more than the wall time
};

inline constexpr const char* sync_row = "sync";
inline constexpr const char* unexplained_row = "unexplained";

// Of the time from `begin` to `end`; spans are clipped to it. An instant goes to the stage that is
// active then, if stages of several names are to "overlap{a+b}", if there is none but a lane waits
// to "sync", else to "unexplained". Rows stand in the order in which they first occurred. A row
// "sync" exists only where waits were marked: a wait that nobody measured is not zero.
ClosedAccount close_account(std::span<const Span> spans, Nanoseconds begin, Nanoseconds end);

// The account of one span of `stage`, the one whose length is the median of all (of an even number,
// the longer of the middle two): a frame of a program that works through many. That stage itself is
// the window and no row, so what nothing else in it explains is "unexplained". Error where there is
// no such span.
ClosedAccount account_of_median(std::span<const Span> spans, const std::string& stage);

}  // namespace fuseline
