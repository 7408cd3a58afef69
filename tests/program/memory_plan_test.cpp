// The memory plan: no overlap in space and time, and close to the bound.
#include "program/memory_plan.hpp"

#include <gtest/gtest.h>

#include <random>

namespace fuseline {
namespace {

TEST(MemoryPlan, BuffersAliveTogetherDoNotOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<BufferNeed> needs;
    for (unsigned i = 0; i < 1 + random() % 40; ++i) {
      int first = static_cast<int>(random() % 30);
      needs.push_back({static_cast<std::int64_t>(random() % 5000), first,
                       first + static_cast<int>(random() % 6)});
    }
    MemoryPlan plan = plan_memory(needs);
    EXPECT_GE(plan.total, plan.live_bound);
    for (std::size_t i = 0; i < needs.size(); ++i) {
      EXPECT_EQ(plan.offsets[i] % 256, 0);
      EXPECT_LE(plan.offsets[i] + needs[i].bytes, plan.total);
      for (std::size_t j = 0; j < i; ++j) {
        bool together =
            needs[i].first_step <= needs[j].last_step && needs[j].first_step <= needs[i].last_step;
        bool apart = plan.offsets[i] + needs[i].bytes <= plan.offsets[j] ||
                     plan.offsets[j] + needs[j].bytes <= plan.offsets[i];
        EXPECT_TRUE(!together || apart || needs[i].bytes == 0 || needs[j].bytes == 0);
      }
    }
  }
}

TEST(MemoryPlan, AChainReusesTwoBuffers) {
  std::vector<BufferNeed> needs;
  for (int step = 0; step < 10; ++step) needs.push_back({1024, step, step + 1});
  EXPECT_EQ(plan_memory(needs).total, 2048);
}

TEST(MemoryPlan, NothingNeedsNothing) { EXPECT_EQ(plan_memory({}).total, 0); }

}  // namespace
}  // namespace fuseline
