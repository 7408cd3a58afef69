// Memory plan: offsets in one arena for buffers with known lifetimes.
#pragma once

#include <cstdint>
#include <vector>

namespace fuseline {

struct BufferNeed {
  std::int64_t bytes = 0;
  int first_step = 0;  // written
  int last_step = 0;   // read for the last time
};

struct MemoryPlan {
  std::vector<std::int64_t> offsets;
  std::int64_t total = 0;
  std::int64_t live_bound = 0;  // no plan can be smaller: the largest sum of bytes alive at a step
};

// Greedy by size: the largest buffer first, each at the lowest offset that is free during its life
// (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).
MemoryPlan plan_memory(const std::vector<BufferNeed>& needs);

}  // namespace fuseline
