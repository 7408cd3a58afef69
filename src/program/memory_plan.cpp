// Memory plan: greedy by size.
#include "program/memory_plan.hpp"

#include <algorithm>
#include <numeric>

namespace fuseline {
namespace {

constexpr std::int64_t alignment = 256;

std::int64_t rounded(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

bool overlap(const BufferNeed& a, const BufferNeed& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

std::int64_t live_bound(const std::vector<BufferNeed>& needs) {
  int steps = 0;
  for (const BufferNeed& need : needs) steps = std::max(steps, need.last_step + 1);
  std::vector<std::int64_t> alive(static_cast<std::size_t>(steps));
  for (const BufferNeed& need : needs)
    for (int step = need.first_step; step <= need.last_step; ++step)
      alive[static_cast<std::size_t>(step)] += rounded(need.bytes);
  return alive.empty() ? 0 : *std::max_element(alive.begin(), alive.end());
}

}  // namespace

MemoryPlan plan_memory(const std::vector<BufferNeed>& needs) {
  MemoryPlan plan{std::vector<std::int64_t>(needs.size()), 0, live_bound(needs)};
  std::vector<std::size_t> order(needs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return needs[a].bytes > needs[b].bytes; });
  std::vector<std::size_t> placed;  // ascending offsets
  for (std::size_t i : order) {
    std::int64_t size = rounded(needs[i].bytes), offset = 0;
    for (std::size_t other : placed) {
      if (!overlap(needs[i], needs[other])) continue;
      if (offset + size <= plan.offsets[other]) break;
      offset = std::max(offset, plan.offsets[other] + rounded(needs[other].bytes));
    }
    plan.offsets[i] = offset;
    plan.total = std::max(plan.total, offset + size);
    auto at = std::upper_bound(placed.begin(), placed.end(), offset,
                               [&](std::int64_t o, std::size_t p) { return o < plan.offsets[p]; });
    placed.insert(at, i);
  }
  return plan;
}

}  // namespace fuseline
