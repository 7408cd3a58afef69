// Matrix products, correlations and windows against plain loops.
#include "fuseline/ops.hpp"
#include "graph/evaluate.hpp"
#include "support.hpp"

namespace fuseline {
namespace {

using namespace testing;

std::vector<std::int32_t> counting(std::size_t count) {
  std::vector<std::int32_t> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<std::int32_t>(i * 7 % 11) - 4);
  return values;
}

TEST(Contraction, matmul_broadcasts_its_batch_axes) {
  Graph g;
  Value a = g.input("a", DType::i32, {2, 1, 3, Dim::symbol("k")});
  Value b = g.input("b", DType::i32, {4, Dim::symbol("k"), 2});
  g.output("y", matmul(a, b));
  auto x = counting(2 * 3 * 5), z = counting(4 * 5 * 2);
  auto y = elements<std::int32_t>(evaluate(g, {{"a", tensor<std::int32_t>({2, 1, 3, 5}, x)},
                                               {"b", tensor<std::int32_t>({4, 5, 2}, z)}})[0]);
  std::vector<std::int32_t> expected;
  for (std::size_t m = 0; m < 2; ++m)
    for (std::size_t n = 0; n < 4; ++n)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 2; ++j) {
          std::int32_t sum = 0;
          for (std::size_t k = 0; k < 5; ++k)
            sum += x[(m * 3 + i) * 5 + k] * z[(n * 5 + k) * 2 + j];
          expected.push_back(sum);
        }
  EXPECT_EQ(y, expected);
}

// One row of 7 with a kernel of 3, every geometry, against the definition.
TEST(Contraction, conv_is_a_correlation_with_zeros_outside) {
  for (std::int64_t stride : {1, 2})
    for (std::int64_t dilation : {1, 2})
      for (std::int64_t before : {0, 1, 3}) {
        std::int64_t places = (7 + 2 * before - 2 * dilation - 1) / stride + 1;
        Graph g;
        Value x = g.input("x", DType::i32, {1, 4, 7}), w = g.input("w", DType::i32, {6, 2, 3});
        g.output("y", conv(x, w, {{stride}, {dilation}, {before}, {places}}, 2));
        auto in = counting(4 * 7), weights = counting(6 * 2 * 3);
        auto y = elements<std::int32_t>(
            evaluate(g, {{"x", tensor<std::int32_t>({1, 4, 7}, in)},
                         {"w", tensor<std::int32_t>({6, 2, 3}, weights)}})[0]);
        std::vector<std::int32_t> expected;
        for (std::int64_t m = 0; m < 6; ++m)
          for (std::int64_t o = 0; o < places; ++o) {
            std::int32_t sum = 0;
            for (std::int64_t c = 0; c < 2; ++c)
              for (std::int64_t k = 0; k < 3; ++k) {
                std::int64_t at = o * stride + k * dilation - before;
                if (at < 0 || at >= 7) continue;
                sum += in[static_cast<std::size_t>((m / 3 * 2 + c) * 7 + at)] *
                       weights[static_cast<std::size_t>((m * 2 + c) * 3 + k)];
              }
            expected.push_back(sum);
          }
        EXPECT_EQ(y, expected) << stride << " " << dilation << " " << before;
      }
}

// Every element of the operand is spread over the result.
TEST(Contraction, conv_transpose_spreads_each_element) {
  for (std::int64_t stride : {1, 2, 3})
    for (std::int64_t before : {0, 1}) {
      std::int64_t places = 4 * stride + 3 - 2 * before;
      Graph g;
      Value x = g.input("x", DType::i32, {1, 4, 5}), w = g.input("w", DType::i32, {4, 3, 3});
      g.output("y", conv_transpose(x, w, {{stride}, {1}, {before}, {places}}, 2));
      auto in = counting(4 * 5), weights = counting(4 * 3 * 3);
      auto y =
          elements<std::int32_t>(evaluate(g, {{"x", tensor<std::int32_t>({1, 4, 5}, in)},
                                              {"w", tensor<std::int32_t>({4, 3, 3}, weights)}})[0]);
      std::vector<std::int32_t> expected(static_cast<std::size_t>(6 * places));
      for (std::int64_t c = 0; c < 4; ++c)
        for (std::int64_t i = 0; i < 5; ++i)
          for (std::int64_t m = 0; m < 3; ++m)
            for (std::int64_t k = 0; k < 3; ++k) {
              std::int64_t at = i * stride + k - before;
              if (at < 0 || at >= places) continue;
              expected[static_cast<std::size_t>((c / 2 * 3 + m) * places + at)] +=
                  in[static_cast<std::size_t>(c * 5 + i)] *
                  weights[static_cast<std::size_t>((c * 3 + m) * 3 + k)];
            }
      EXPECT_EQ(y, expected) << stride << " " << before;
    }
}

TEST(Contraction, window_slides_over_the_trailing_axes) {
  Graph g;
  Value x = g.input("x", DType::i32, {2, 3});
  g.output("y", window(x, {2}, {{1}, {2}, {1}, {3}}, 9));
  auto y = elements<std::int32_t>(
      evaluate(g, {{"x", tensor<std::int32_t>({2, 3}, {1, 2, 3, 4, 5, 6})}})[0]);
  EXPECT_EQ(y, (std::vector<std::int32_t>{9, 2, 1, 3, 2, 9, 9, 5, 4, 6, 5, 9}));
}

TEST(Contraction, shapes_that_do_not_fit_are_named) {
  Graph g;
  Value a = g.input("a", DType::f32, {2, 3}), b = g.input("b", DType::f32, {4, 2});
  EXPECT_EQ(error_of([&] { matmul(a, b); }), "matmul: [2, 3] by [4, 2]: 3 columns meet 4 rows");
  Value x = g.input("x", DType::f32, {1, 5, 8}), w = g.input("w", DType::f32, {6, 2, 3});
  EXPECT_EQ(error_of([&] {
              conv(x, w, {{1}, {1}, {Dim(0)}, {Dim(6)}}, 2);
            }),
            "conv: 5 channels, but the weights [6, 2, 3] in 2 groups take 4");
}

}  // namespace
}  // namespace fuseline
