// f16 and bf16: every value both ways, and rounding of doubles.
#include "base/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace fuseline {
namespace {

// The definition: sign, exponent and fraction as IEEE 754 lays them out.
double by_definition(std::uint16_t bits, int mantissa, int bias) {
  int exponent = (bits & 0x7fff) >> mantissa;
  double fraction = std::ldexp(bits & ((1 << mantissa) - 1), -mantissa);
  int top = (1 << (15 - mantissa)) - 1;
  double value = exponent == top ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                 : exponent == 0 ? std::ldexp(fraction, 1 - bias)
                                 : std::ldexp(1 + fraction, exponent - bias);
  return bits & 0x8000 ? -value : value;
}

struct Format {
  bool brain;
  int mantissa, bias;
  double decode(std::uint16_t bits) const {
    return brain ? bfloat_to_float(bits) : half_to_float(bits);
  }
  std::uint16_t encode(double value) const { return float_to_bits16(value, brain); }
};
class Half : public ::testing::TestWithParam<Format> {};

TEST_P(Half, all_values_both_ways) {
  const Format& f = GetParam();
  for (int i = 0; i < 65536; ++i) {
    auto bits = static_cast<std::uint16_t>(i);
    double expected = by_definition(bits, f.mantissa, f.bias), value = f.decode(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << i;
      ASSERT_TRUE(std::isnan(f.decode(f.encode(value)))) << i;
      continue;
    }
    ASSERT_EQ(value, expected) << i;
    ASSERT_EQ(std::signbit(value), std::signbit(expected)) << i;
    ASSERT_EQ(f.encode(value), bits) << i;
  }
}

TEST_P(Half, between_neighbours_the_nearer_wins_and_ties_go_to_even) {
  const Format& f = GetParam();
  int infinity = ((1 << (15 - f.mantissa)) - 1) << f.mantissa;
  for (int i = 0; i < infinity; ++i) {
    auto low = static_cast<std::uint16_t>(i), high = static_cast<std::uint16_t>(i + 1);
    double a = f.decode(low);
    // Above the largest number the next step would be 2^(top exponent).
    double b = i + 1 < infinity ? f.decode(high) : std::ldexp(1.0, f.brain ? 128 : 16);
    double middle = a + (b - a) / 2;
    auto even = static_cast<std::uint16_t>(i & 1 ? i + 1 : i);
    ASSERT_EQ(f.encode(middle), even) << i;
    ASSERT_EQ(f.encode(std::nextafter(middle, a)), low) << i;
    ASSERT_EQ(f.encode(std::nextafter(middle, b)), high) << i;
    ASSERT_EQ(f.encode(-middle), even | 0x8000) << i;
  }
}

TEST_P(Half, doubles_beyond_the_range_become_infinity_or_zero) {
  const Format& f = GetParam();
  auto infinity = static_cast<std::uint16_t>(((1 << (15 - f.mantissa)) - 1) << f.mantissa);
  for (int exponent = f.brain ? 128 : 16; exponent < 1024; ++exponent) {
    ASSERT_EQ(f.encode(std::ldexp(1.25, exponent)), infinity) << exponent;
    ASSERT_EQ(f.encode(std::ldexp(-1.25, exponent)), infinity | 0x8000) << exponent;
  }
  for (int exponent = -1074; exponent < (f.brain ? -134 : -25); ++exponent) {
    ASSERT_EQ(f.encode(std::ldexp(1.0, exponent)), 0) << exponent;
    ASSERT_EQ(f.encode(std::ldexp(-1.0, exponent)), 0x8000) << exponent;
  }
  EXPECT_EQ(f.encode(HUGE_VAL), infinity);
  EXPECT_EQ(f.encode(std::numeric_limits<double>::denorm_min()), 0);
}

INSTANTIATE_TEST_SUITE_P(Formats, Half,
                         ::testing::Values(Format{false, 10, 15}, Format{true, 7, 127}),
                         [](const auto& test) { return test.param.brain ? "bf16" : "f16"; });

}  // namespace
}  // namespace fuseline
