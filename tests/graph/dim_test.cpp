// Dim: normal form, evaluation, text, and hostile text.
#include "fuseline/dim.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "support.hpp"

namespace fuseline {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Dim H = Dim::symbol("H"), W = Dim::symbol("W");
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

TEST(Dim, equal_arithmetic_compares_equal) {
  EXPECT_EQ(Dim(3) * H * W, W * (H + H + H));
  EXPECT_EQ((H + 1) * (H - 1), H * H - 1);
  EXPECT_EQ(H - H, Dim(0));
  EXPECT_EQ(min(H, W), min(W, H));
  EXPECT_EQ(max(H, H), H);
  EXPECT_EQ(equal(H, W), equal(W, H));
  EXPECT_EQ(equal(H, H), Dim(1));
  EXPECT_EQ(less(H, H), Dim(0));
  EXPECT_NE(floor_div(H, 2), ceil_div(H, 2));
  EXPECT_EQ(floor_div(H * 4 + 2, 2), H * 2 + 1);
  EXPECT_EQ(ceil_div(H * 4, 2), H * 2);
  EXPECT_NE(H, W);
  EXPECT_TRUE((H + 0).is_symbol());
  EXPECT_FALSE((H * 2).is_symbol());
}

TEST(Dim, division_rounds_towards_minus_or_plus_infinity) {
  for (std::int64_t a = -7; a <= 7; ++a)
    for (std::int64_t b : {-3, -2, -1, 1, 2, 3}) {
      std::int64_t down = floor_div(Dim(a), Dim(b)).constant();
      std::int64_t up = ceil_div(Dim(a), Dim(b)).constant();
      EXPECT_EQ(floor_div(H, W).evaluate({{"H", a}, {"W", b}}), down);
      EXPECT_EQ(ceil_div(H, W).evaluate({{"H", a}, {"W", b}}), up);
      // down <= a / b < down + 1, up - 1 < a / b <= up, multiplied by b.
      std::int64_t sign = b < 0 ? -1 : 1;
      EXPECT_LE(down * b * sign, a * sign);
      EXPECT_GT((down + 1) * b * sign, a * sign);
      EXPECT_GE(up * b * sign, a * sign);
      EXPECT_LT((up - 1) * b * sign, a * sign);
    }
}

TEST(Dim, corners_of_64_bits_are_errors) {
  EXPECT_THAT(error_of([] { Dim(most) + 1; }), HasSubstr("overflows"));
  EXPECT_THAT(error_of([] { Dim(most) * 2; }), HasSubstr("overflows"));
  EXPECT_THAT(error_of([] { floor_div(Dim(least), Dim(-1)); }), HasSubstr("overflows"));
  EXPECT_THAT(error_of([] { ceil_div(Dim(least), Dim(-1)); }), HasSubstr("overflows"));
  EXPECT_THAT(error_of([] { floor_div(Dim(1), Dim(0)); }), HasSubstr("by zero"));
  EXPECT_EQ(ceil_div(Dim(least), Dim(3)).constant(), least / 3);
  EXPECT_THAT(error_of([] { (H * W).evaluate({{"H", most}, {"W", 2}}); }), HasSubstr("overflows"));
  EXPECT_THAT(error_of([] {
                floor_div(H, W).evaluate({{"H", 1}, {"W", 0}});
              }),
              HasSubstr("by zero"));
  EXPECT_EQ(floor_div(Dim(least) * H, Dim(-1)).evaluate({{"H", 0}}), 0);
}

TEST(Dim, evaluation_names_what_is_missing) {
  EXPECT_EQ((H * W + 1).evaluate({{"H", 2}, {"W", 3}}), 7);
  EXPECT_EQ(error_of([] { H.evaluate({}); }), "size H: no value is known for it");
  Dim operand = Dim::operand("to", 1);
  EXPECT_EQ((operand + 1).evaluate({{"operand(to, 1)", 4}}), 5);
  EXPECT_EQ(Dim::bounded(H * 2, "boxes").evaluate({{"H", 4}}), 8);
  EXPECT_THAT((H * operand + min(W, H)).names(), ElementsAre("H", "W", "operand(to, 1)"));
  EXPECT_TRUE((H + floor_div(operand, 2)).has(Dim::Kind::operand));
  EXPECT_FALSE(H.has(Dim::Kind::late));
}

TEST(Dim, text_round_trips) {
  Dim operand = Dim::operand("to", 1);
  const Dim cases[] = {0,
                       -5,
                       most,
                       H,
                       -1 * H,
                       H * 3 * W + 1,
                       H - W,
                       -1 * H - 7,
                       H * H * H,
                       floor_div(H + 1, 2),
                       ceil_div(H, W) * 2,
                       min(H, max(W, 4)),
                       less(H, W),
                       equal(H, 3),
                       operand * 2,
                       Dim::bounded(H * W, "count"),
                       Dim::late("nms:0")};
  for (const Dim& dim : cases) EXPECT_EQ(Dim::parse(dim.to_string()), dim) << dim.to_string();
  EXPECT_EQ((H * 3 * W + 1).to_string(), "3*H*W + 1");
  EXPECT_EQ((Dim(1) - H).to_string(), "-H + 1");
  EXPECT_EQ(Dim::parse(" ( H+1 ) *2 - 2"), H * 2);
  EXPECT_EQ(to_string({H, 3}), "[H, 3]");
  EXPECT_EQ(product({}), Dim(1));
}

TEST(Dim, malformed_text_is_an_error) {
  for (const char* text : {"", "H +", "(H", "min(H)", "min(H, W", "cube(H)", "H W", "3a", "*H",
                           "operand(to)", "late()", "99999999999999999999", "operand(to, x)",
                           "operand(to, 4294967297)", "H[0]", "\xff"})
    EXPECT_THROW(Dim::parse(text), Error) << text;
  EXPECT_THAT(error_of([] { Dim::symbol("2x"); }), HasSubstr("size name \"2x\""));
}

TEST(Dim, hostile_text_ends_quickly) {
  std::string deep(100000, '(');
  EXPECT_THAT(error_of([&] { Dim::parse(deep); }), HasSubstr("nested too deeply"));
  std::string power = "H", sum = "a0", wide = "(a+b)";
  for (int i = 1; i < 5000; ++i) power += "*H", sum += "+a" + std::to_string(i);
  EXPECT_THAT(error_of([&] { Dim::parse(power); }), HasSubstr("more than 1024 parts"));
  EXPECT_THAT(error_of([&] { Dim::parse(sum); }), HasSubstr("more than 1024 parts"));
  for (char c = 'a'; c < 'z'; ++c) wide += std::string("*(") + c + "+x" + c + ")";
  EXPECT_THAT(error_of([&] { Dim::parse(wide); }), HasSubstr("more than 1024 parts"));
  // Every level expands a product of the level before.
  std::string nested = "a";
  for (int level = 0; level < 6; ++level) {
    std::string factor = "(floor_div(" + nested + ", z)+b)";
    nested = factor + "*" + factor + "*" + factor + "*" + factor;
  }
  EXPECT_THAT(error_of([&] { Dim::parse(nested); }), HasSubstr("more than"));
}

}  // namespace
}  // namespace fuseline
