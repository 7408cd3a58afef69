// How fast memory is copied: measured points by size, against which copies of a program are held.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ledger/stats.hpp"

namespace fuseline {

struct CopyPoint {
  std::string path;   // "host, 1 thread", "to the device, pinned"
  double bytes = 0;   // of one copy
  Estimate gb_per_s;  // 10^9 bytes copied a second; memory moves twice that, read and written
};

struct Roofline {
  std::vector<CopyPoint> points;
  std::vector<std::string> not_measured;  // one line each, with the reason
};

// 4 KB to 256 MB.
std::vector<double> copy_sizes();

// Repeats `copies(n)`, which makes n copies of `bytes` and returns the seconds that they took.
CopyPoint measure_copies(const std::string& path, double bytes,
                         const std::function<double(int)>& copies);

// memcpy on one thread and on `threads`; the buffers of a size are copied again and again, so small
// sizes show the caches.
Roofline host_roofline(int threads, const std::function<void()>& between);

// The rate of the path whose size is nearest to `bytes`; none where it was not measured.
std::optional<double> rate_near(const Roofline& roofline, const std::string& path, double bytes);
std::string host_path(int threads);

}  // namespace fuseline
