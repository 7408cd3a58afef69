// Rank tests against SciPy, and Holm's adjustment by hand.
#include "ledger/rank_tests.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <sstream>

#include "fuseline/error.hpp"
#include "ledger/expected.hpp"

namespace fuseline {
namespace {

using Sample = std::vector<double>;

// Answers of SciPy 1.17.
TEST(RankTests, MannWhitneyIsSciPys) {
  Sample a = {1, 2, 3, 4, 5, 6, 7, 8, 9}, b = {5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5, 13.5};
  MannWhitney test = mann_whitney(a, b);
  EXPECT_EQ(test.u, 10);
  EXPECT_NEAR(test.p, 0.0080714874252680, 1e-12);
  EXPECT_EQ(mann_whitney(b, a).p, test.p);
}

TEST(RankTests, EqualSamplesDoNotDiffer) {
  Sample same(12, 3.0);
  EXPECT_EQ(mann_whitney(same, same).p, 1);
  EXPECT_EQ(wilcoxon_p(Sample(12, 0.0)), 1);
}

// Five differences of one sign: 2 of 32 sign patterns are as extreme.
TEST(RankTests, WilcoxonOfFewIsExact) {
  EXPECT_DOUBLE_EQ(wilcoxon_p(Sample{1, 2, 3, 4, 5}), 2.0 / 32);
  EXPECT_DOUBLE_EQ(wilcoxon_p(Sample{-1, -2, -3, -4, -5}), 2.0 / 32);
  EXPECT_DOUBLE_EQ(wilcoxon_p(Sample{-1, 2, 3, 4, 5}), 4.0 / 32);
}

TEST(RankTests, HolmByHand) {
  EXPECT_THAT(holm(Sample{0.01, 0.04, 0.03, 0.005}),
              testing::Pointwise(testing::DoubleNear(1e-15), Sample{0.03, 0.06, 0.06, 0.02}));
  EXPECT_THAT(holm(Sample{0.6, 0.9}), testing::ElementsAre(1, 1));
  EXPECT_TRUE(holm(Sample{}).empty());
}

// Under no difference each test may reject 5 % of the time: 1000 trials have a standard error of
// 0.7 %.
TEST(RankTests, RejectsEqualSamplesAtItsLevel) {
  std::mt19937_64 engine(3);
  std::lognormal_distribution<double> draw(0, 0.3);
  int unpaired = 0, paired = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    Sample a(15), b(15), d(15);
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = draw(engine);
      b[i] = draw(engine);
      d[i] = std::log(a[i] / b[i]);
    }
    unpaired += mann_whitney(a, b).p < 0.05;
    paired += wilcoxon_p(d) < 0.05;
  }
  for (int rejected : {unpaired, paired}) {
    EXPECT_GE(rejected, 25);
    EXPECT_LE(rejected, 75);
  }
}

TEST(RankTests, RefusesEmptyAndNaN) {
  Sample good = {1, 2}, nan = {1, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THROW(mann_whitney({}, good), Error);
  EXPECT_THROW(mann_whitney(good, nan), Error);
  EXPECT_THROW(wilcoxon_p({}), Error);
  EXPECT_THROW(wilcoxon_p(nan), Error);
}

Sample read_row(std::istream& in, const std::string& name) {
  std::string line, word;
  std::getline(in, line);
  std::istringstream words(line);
  words >> word;
  EXPECT_EQ(word, name);
  Sample row;
  while (words >> word) row.push_back(std::strtod(word.c_str(), nullptr));
  return row;
}

void compare_case(std::istream& in) {
  Sample a = read_row(in, "a"), b = read_row(in, "b");
  Sample expected = read_row(in, "mannwhitney"), paired = read_row(in, "wilcoxon");
  ASSERT_EQ(expected.size(), 2u);
  ASSERT_EQ(paired.size(), 1u);
  MannWhitney test = mann_whitney(a, b);
  EXPECT_DOUBLE_EQ(test.u, expected[0]);
  EXPECT_NEAR(test.p, expected[1], 1e-12);
  Sample differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  EXPECT_NEAR(wilcoxon_p(differences), paired[0], 1e-12);
}

TEST(RankTests, SeededSamplesAgreeWithSciPy) {
  test::compare_with("rank_tests_expected.py", 18, compare_case);
}

}  // namespace
}  // namespace fuseline
