// Copies of host memory, timed in samples of at least a millisecond.
#include "ledger/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include "base/fail.hpp"

namespace fuseline {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Whole pages: neighbors at odd distances make `rep movsb` of some processors ten times slower.
std::unique_ptr<char, decltype(&std::free)> pages(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  std::size_t rounded = (bytes + page - 1) / page * page;
  auto* memory = static_cast<char*>(std::aligned_alloc(page, rounded));
  if (!memory) fail("no {} bytes of memory are left to measure copies with", rounded);
  return {memory, std::free};
}

struct Buffers {
  explicit Buffers(std::size_t bytes) : from(pages(bytes)), to(pages(bytes)) {
    std::memset(from.get(), 1, bytes);  // every page of both exists before it is timed
    std::memset(to.get(), 2, bytes);
  }
  std::unique_ptr<char, decltype(&std::free)> from, to;
};

void copy_part(const Buffers& buffers, std::size_t begin, std::size_t end, int times) {
  for (int i = 0; i < times; ++i) {
    std::memcpy(buffers.to.get() + begin, buffers.from.get() + begin, end - begin);
    asm volatile("" : : "r"(buffers.to.get()) : "memory");  // each copy is made
  }
}

// Each thread copies its part, from the first that begins to the last that ends: whoever starts
// them may be held up itself. Starting and ending the threads is not timed.
double copy_on_threads(const Buffers& buffers, std::size_t bytes, int threads, int times) {
  auto count = static_cast<std::size_t>(threads);
  std::barrier gate(threads);
  std::vector<Clock::time_point> begin(count), end(count);
  std::vector<std::jthread> team;
  for (std::size_t i = 0; i < count; ++i)
    team.emplace_back([&, i] {
      gate.arrive_and_wait();
      begin[i] = Clock::now();
      copy_part(buffers, bytes * i / count, bytes * (i + 1) / count, times);
      end[i] = Clock::now();
    });
  team.clear();
  return std::chrono::duration<double>(*std::max_element(end.begin(), end.end()) -
                                       *std::min_element(begin.begin(), begin.end()))
      .count();
}

// Of one of several things, by sample; samples last at least a millisecond.
std::vector<double> seconds_of_each(const std::function<double(int)>& things) {
  constexpr double least_seconds = 1e-3, tick = 1e-9;
  constexpr int samples = 9, most = 1 << 20;
  int times = 1;
  while (things(times) < least_seconds && times < most) times *= 2;
  std::vector<double> all;
  for (int i = 0; i < samples; ++i) all.push_back(std::max(things(times), tick) / times);
  return all;
}

double copy_alone(const Buffers& buffers, std::size_t bytes, int times) {
  auto begin = Clock::now();
  copy_part(buffers, 0, bytes, times);
  return seconds_since(begin);
}

}  // namespace

std::vector<double> copy_sizes() { return {4096, 65536, 1 << 20, 16 << 20, 256 << 20}; }

CopyPoint measure_copies(const std::string& path, double bytes,
                         const std::function<double(int)>& copies) {
  std::vector<double> rates;
  for (double seconds : seconds_of_each(copies)) rates.push_back(bytes / seconds / 1e9);
  return {path, bytes, median_interval(rates)};
}

Estimate measure_each_us(const std::function<double(int)>& things) {
  std::vector<double> times;
  for (double seconds : seconds_of_each(things)) times.push_back(1e6 * seconds);
  return median_interval(times);
}

std::string host_path(int threads) {
  return fmt::format("host, {} thread{}", threads, threads == 1 ? "" : "s");
}

Roofline host_roofline(int threads, const std::function<void()>& between) {
  Roofline roofline;
  for (double size : copy_sizes()) {
    auto bytes = static_cast<std::size_t>(size);
    Buffers buffers(bytes);
    roofline.points.push_back(measure_copies(
        host_path(1), size, [&](int times) { return copy_alone(buffers, bytes, times); }));
    if (between) between();
    if (threads <= 1) continue;
    roofline.points.push_back(measure_copies(host_path(threads), size, [&](int times) {
      return copy_on_threads(buffers, bytes, threads, times);
    }));
    if (between) between();
  }
  return roofline;
}

std::optional<double> rate_near(const Roofline& roofline, const std::string& path, double bytes) {
  std::optional<double> rate;
  double nearest = 0;
  for (const CopyPoint& point : roofline.points) {
    if (point.path != path) continue;
    double distance = std::abs(std::log(point.bytes / std::max(bytes, 1.0)));
    if (rate && distance >= nearest) continue;
    rate = point.gb_per_s.value;
    nearest = distance;
  }
  return rate;
}

}  // namespace fuseline
