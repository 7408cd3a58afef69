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

// What a path could reach at most, by clock and width.
struct PathPeak {
  std::string paths;               // "to and from the GPU"
  std::optional<double> gb_per_s;  // of bytes that move
  std::string why;                 // "PCIe 5.0 x16", or why it is unknown
};

struct LaunchCost {
  std::string device;  // "Simulated device (sm_90)"
  std::string how;     // "one, until it is done"
  Estimate us;         // of one launch
};

struct Roofline {
  std::vector<CopyPoint> points;
  std::vector<PathPeak> peaks;
  std::vector<LaunchCost> launches;
  std::vector<std::string> not_measured;  // one line each, with the reason
};

// 4 KB to 256 MB.
std::vector<double> copy_sizes();

// Repeats `copies(n)`, which makes n copies of `bytes` and returns the seconds that they took.
CopyPoint measure_copies(const std::string& path, double bytes,
                         const std::function<double(int)>& copies);

// Microseconds of one of `n` things, which `things(n)` does and returns the seconds of; samples
// last at least a millisecond.
Estimate measure_each_us(const std::function<double(int)>& things);

// memcpy on one thread and on `threads`; the buffers of a size are copied again and again, so small
// sizes show the caches.
Roofline host_roofline(int threads, const std::function<void()>& between);

// The rate of the path whose size is nearest to `bytes`; none where it was not measured.
std::optional<double> rate_near(const Roofline& roofline, const std::string& path, double bytes);
std::string host_path(int threads);

}  // namespace fuseline
