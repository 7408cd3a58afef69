// The rule of verdicts, and how often it errs on streams of known truth.
#include "ledger/verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "fuseline/error.hpp"

namespace fuseline {
namespace {

constexpr VerdictRule rule{.threshold = 0.02, .noise_floor = 0.01};

TEST(Verdict, EachOfTheFour) {
  EXPECT_EQ(judge({1.30, 1.28, 1.34, 30}, rule), Verdict::faster);
  EXPECT_EQ(judge({0.90, 0.88, 0.93, 30}, rule), Verdict::slower);
  EXPECT_EQ(judge({1.001, 0.99, 1.01, 30}, rule), Verdict::same);
  EXPECT_EQ(judge({1.01, 0.97, 1.05, 30}, rule), Verdict::inconclusive);
}

TEST(Verdict, SmallEffectsAreNoGainHoweverSure) {
  EXPECT_EQ(judge({1.015, 1.014, 1.016, 900}, rule), Verdict::same);
  // Beyond the threshold but below what the machine feigns: not said.
  EXPECT_EQ(judge({1.05, 1.03, 1.07, 30}, {.threshold = 0.02, .noise_floor = 0.08}),
            Verdict::inconclusive);
}

TEST(Verdict, InconclusiveIsNotSame) {
  EXPECT_EQ(judge({1.0, 0.7, 1.4, 5}, rule), Verdict::inconclusive);
  // The interval reaches out of the band by a little.
  EXPECT_EQ(judge({1.0, 0.99, 1.021, 50}, rule), Verdict::inconclusive);
}

TEST(Verdict, NeedsTheAdjustedP) {
  EXPECT_EQ(judge({1.30, 1.28, 1.34, 30}, rule, 0.2), Verdict::inconclusive);
  EXPECT_EQ(judge({1.30, 1.28, 1.34, 30}, rule, 0.04), Verdict::faster);
}

TEST(Verdict, SwappedSidesGiveTheOpposite) {
  for (double ratio : {1.019, 1.0201, 1.03, 1.5}) {
    Verdict there = judge({ratio, ratio, ratio, 9}, rule);
    Verdict back = judge({1 / ratio, 1 / ratio, 1 / ratio, 9}, rule);
    EXPECT_EQ(there == Verdict::faster, back == Verdict::slower) << ratio;
  }
}

TEST(Verdict, NamesThereAndBack) {
  for (Verdict verdict : {Verdict::faster, Verdict::slower, Verdict::same, Verdict::inconclusive})
    EXPECT_EQ(verdict_named(name_of(verdict)), verdict);
  EXPECT_THROW(verdict_named("QUICK"), Error);
}

TEST(NoiseFloor, GrowsWithTheNoise) {
  std::mt19937_64 engine(1);
  auto floor_of = [&](double sigma) {
    std::lognormal_distribution<double> draw(0, sigma);
    std::vector<BlockPair> pairs;
    for (int i = 0; i < 40; ++i) pairs.push_back({draw(engine), draw(engine)});
    return noise_floor(pairs).value();
  };
  double quiet = floor_of(0.001), loud = floor_of(0.1);
  EXPECT_GT(quiet, 0);
  EXPECT_LT(quiet, 0.002);
  EXPECT_GT(loud, 0.01);
  EXPECT_LT(loud, 0.2);
}

TEST(NoiseFloor, IsNotMadeUp) {
  EXPECT_FALSE(noise_floor({}));
  EXPECT_FALSE(noise_floor(std::vector<BlockPair>(7, {1, 1})));
  EXPECT_FALSE(noise_floor(std::vector<BlockPair>(20, {0, 1})));
  EXPECT_EQ(noise_floor(std::vector<BlockPair>(8, {1, 1})), 0);
}

}  // namespace
}  // namespace fuseline
