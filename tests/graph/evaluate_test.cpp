// evaluate: semantics of operation groups on hand-checked numbers.
#include "graph/evaluate.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "fuseline/ops.hpp"
#include "support.hpp"

namespace fuseline {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// The one output of a graph over inputs a, b, ... of the given tensors.
template <class Build>
Tensor run(std::vector<Tensor> inputs, Build&& build) {
  Graph g;
  std::vector<Value> values;
  Inputs given;
  for (Tensor& input : inputs) {
    std::string name(1, static_cast<char>('a' + values.size()));
    values.push_back(
        g.input(name, input.dtype(), Dims(input.shape().begin(), input.shape().end())));
    given.emplace_back(name, input);
  }
  g.output("out", build(values));
  return evaluate(g, given)[0];
}

TEST(Evaluate, integers_wrap_and_divide_by_zero_to_zero) {
  auto a = tensor<std::int8_t>({4}, {127, -128, 7, -7});
  auto b = tensor<std::int8_t>({4}, {1, -1, 0, 2});
  auto of = [&](OpCode op) {
    return elements<std::int8_t>(run({a, b}, [&](auto& v) {
      return v[0].graph().apply(op, {v[0], v[1]});
    }));
  };
  EXPECT_THAT(of(OpCode::add), ElementsAre(-128, 127, 7, -5));
  EXPECT_THAT(of(OpCode::mul), ElementsAre(127, -128, 0, -14));
  EXPECT_THAT(of(OpCode::div), ElementsAre(127, -128, 0, -3));
  EXPECT_THAT(of(OpCode::rem), ElementsAre(0, 0, 0, -1));
  EXPECT_THAT(of(OpCode::mod), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(of(OpCode::shift_left), ElementsAre(-2, 0, 7, -28));
  EXPECT_THAT(of(OpCode::shift_right), ElementsAre(63, -1, 7, -2));
}

TEST(Evaluate, elementwise_floats_are_computed_in_double_and_rounded_once) {
  // 1 + 2^-24 + 2^-24 is 1 step by step in f32, but the sum inside one operation is exact.
  auto a = tensor<float>({1}, {0x1p-12f});
  Tensor out = run({a}, [](auto& v) { return gelu_tanh(v[0]); });
  double x = 0x1p-12;
  double inner = 0.79788456080286535588f * (x + static_cast<double>(0.044715f) * x * x * x);
  EXPECT_EQ(elements<float>(out)[0], static_cast<float>(0.5 * x * (1 + std::tanh(inner))));
}

TEST(Evaluate, minimum_and_maximum_hand_on_nan) {
  auto a = tensor<float>({3}, {nan, 1, 1});
  auto b = tensor<float>({3}, {1, nan, 2});
  auto low = elements<float>(run({a, b}, [](auto& v) { return minimum(v[0], v[1]); }));
  auto high = elements<float>(run({a, b}, [](auto& v) { return maximum(v[0], v[1]); }));
  EXPECT_TRUE(std::isnan(low[0]) && std::isnan(low[1]) && low[2] == 1);
  EXPECT_TRUE(std::isnan(high[0]) && std::isnan(high[1]) && high[2] == 2);
}

TEST(Evaluate, functions_without_a_name_in_onnx) {
  auto a = tensor<double>({5}, {-2.5, -1e-9, 0, 0.75, inf});
  auto b = tensor<double>({5}, {1.5, -3, 0, nan, -2});
  auto one = [&](OpCode op, double (*expected)(double)) {
    auto got = elements<double>(run({a}, [&](auto& v) { return v[0].graph().apply(op, {v[0]}); }));
    for (std::size_t i = 0; i < 5; ++i) {
      double wanted = expected(a.as<double>()[i]);
      EXPECT_TRUE(got[i] == wanted || (std::isnan(got[i]) && std::isnan(wanted))) << i;
    }
  };
  one(OpCode::trunc, [](double x) { return std::trunc(x); });
  one(OpCode::expm1, [](double x) { return std::expm1(x); });
  one(OpCode::log1p, [](double x) { return std::log1p(x); });
  auto angle = elements<double>(run({a, b}, [](auto& v) { return atan2(v[0], v[1]); }));
  EXPECT_EQ(angle[0], std::atan2(-2.5, 1.5));
  EXPECT_EQ(angle[1], std::atan2(-1e-9, -3));
  EXPECT_TRUE(std::isnan(angle[3]));
  EXPECT_THAT(elements<bool>(run({a, b}, [](auto& v) { return v[0] != v[1]; })),
              ElementsAre(true, true, false, true, true));
}

TEST(Evaluate, casts_saturate_floats_and_wrap_integers) {
  auto a = tensor<float>({6}, {-1.5f, 2.5f, 3.5f, 300, nan, -inf});
  auto as = [&](DType to, Rounding r) {
    return run({a}, [&](auto& v) { return cast(v[0], to, r); });
  };
  EXPECT_THAT(elements<std::uint8_t>(as(DType::u8, Rounding::trunc)),
              ElementsAre(0, 2, 3, 255, 0, 0));
  EXPECT_THAT(elements<std::int8_t>(as(DType::i8, Rounding::nearest)),
              ElementsAre(-2, 2, 4, 127, 0, -128));
  EXPECT_THAT(elements<bool>(as(DType::bool_, Rounding::trunc)),
              ElementsAre(true, true, true, true, true, true));
  auto b = tensor<std::int32_t>({3}, {-1, 256, 300});
  EXPECT_THAT(elements<std::uint8_t>(run({b}, [](auto& v) { return cast(v[0], DType::u8); })),
              ElementsAre(255, 0, 44));
  EXPECT_THAT(
      elements<std::uint8_t>(run({b}, [](auto& v) { return saturate_cast(v[0], DType::u8); })),
      ElementsAre(0, 255, 255));
}

TEST(Evaluate, sums_wrap_in_the_element_type_and_round_once) {
  auto bytes = tensor<std::uint8_t>({2, 2}, {200, 100, 1, 2});
  EXPECT_THAT(elements<std::uint8_t>(run({bytes}, [](auto& v) { return reduce_sum(v[0], {1}); })),
              ElementsAre(44, 3));
  auto x = tensor<float>({4}, {1e8f, 1, -1e8f, 0.25f});
  EXPECT_THAT(elements<float>(run({x}, [](auto& v) { return reduce_sum(v[0]); })),
              ElementsAre(1.25f));
  EXPECT_THAT(elements<float>(run({x}, [](auto& v) { return mean(v[0]); })), ElementsAre(0.3125f));
  EXPECT_THAT(
      elements<std::int64_t>(run({bytes}, [](auto& v) { return count(v[0] > 2, {0}, true); })),
      ElementsAre(1, 1));
}

TEST(Evaluate, reductions_of_nothing_give_their_identity) {
  auto x = zeros<float>({2, 0});
  auto i = zeros<std::int16_t>({0});
  EXPECT_THAT(elements<float>(run({x}, [](auto& v) { return reduce_sum(v[0], {1}); })),
              ElementsAre(0, 0));
  EXPECT_THAT(elements<float>(run({x}, [](auto& v) { return reduce_prod(v[0]); })), ElementsAre(1));
  EXPECT_THAT(elements<float>(run({x}, [](auto& v) { return reduce_min(v[0]); })),
              ElementsAre(inf));
  EXPECT_THAT(elements<float>(run({x}, [](auto& v) { return reduce_max(v[0]); })),
              ElementsAre(-inf));
  EXPECT_THAT(elements<std::int16_t>(run({i}, [](auto& v) { return reduce_max(v[0]); })),
              ElementsAre(-32768));
  EXPECT_THAT(elements<std::int64_t>(run({i}, [](auto& v) { return arg_max(v[0], 0); })),
              ElementsAre(0));
  EXPECT_EQ(run({x}, [](auto& v) { return reduce_sum(v[0], {0}); }).shape(), (Shape{0}));
  EXPECT_TRUE(std::isnan(elements<float>(run({x}, [](auto& v) { return mean(v[0]); }))[0]));
}

TEST(Evaluate, arg_reductions_take_the_first_of_equals_and_the_first_nan) {
  auto x = tensor<float>({3, 4}, {1, 5, 5, 0, 2, nan, 9, nan, -inf, -inf, -inf, -inf});
  EXPECT_THAT(elements<std::int64_t>(run({x}, [](auto& v) { return arg_max(v[0], 1); })),
              ElementsAre(1, 1, 0));
  EXPECT_THAT(elements<std::int64_t>(run({x}, [](auto& v) { return arg_min(v[0], -1); })),
              ElementsAre(3, 1, 0));
  auto u = tensor<std::uint64_t>({3}, {1, ~std::uint64_t{0}, 7});
  EXPECT_THAT(elements<std::int64_t>(run({u}, [](auto& v) { return arg_max(v[0], 0); })),
              ElementsAre(1));
}

TEST(Evaluate, index_maps_move_elements) {
  auto x = tensor<std::int32_t>({2, 3}, {0, 1, 2, 3, 4, 5});
  auto of = [&](auto build) { return elements<std::int32_t>(run({x}, build)); };
  EXPECT_THAT(of([](auto& v) { return transpose(v[0], {1, 0}); }), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(of([](auto& v) {
                return reshape(transpose(v[0], {1, 0}), {2, 3});
              }),
              ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(of([](auto& v) {
                return slice(v[0], {1, 2}, {2, 2}, {-1, -2});
              }),
              ElementsAre(5, 3, 2, 0));
  EXPECT_THAT(of([](auto& v) {
                return concat({v[0], slice(v[0], {0, 0}, {2, 0}), v[0]}, 1);
              }),
              ElementsAre(0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5));
  EXPECT_THAT(of([](auto& v) { return pad(pick(v[0], 0, 0), {2}, {2}, "reflect"); }),
              ElementsAre(2, 1, 0, 1, 2, 1, 0));
  EXPECT_THAT(of([](auto& v) { return pad(pick(v[0], 0, 0), {1}, {2}, "wrap"); }),
              ElementsAre(2, 0, 1, 2, 0, 1));
  EXPECT_THAT(of([](auto& v) { return pad(pick(v[0], 0, 0), {1}, {1}, "edge"); }),
              ElementsAre(0, 0, 1, 2, 2));
  EXPECT_THAT(of([](auto& v) { return pad(pick(v[0], 0, 0), {-1}, {1}, "constant", 9); }),
              ElementsAre(1, 2, 9));
  EXPECT_THAT(of([](auto& v) {
                return broadcast_to(pick(v[0], 1, 1), {2, 2});
              }),
              ElementsAre(1, 4, 1, 4));
}

TEST(Evaluate, gather_limits_indices) {
  auto x = tensor<float>({3}, {10, 20, 30});
  auto i = tensor<std::int8_t>({2, 2}, {0, -1, 7, -9});
  EXPECT_THAT(elements<float>(run({x, i}, [](auto& v) { return gather(v[0], v[1], 0); })),
              ElementsAre(10, 30, 30, 10));
}

TEST(Evaluate, strided_and_broadcast_inputs_are_honoured) {
  std::vector<float> memory = {0, 1, 2, 3, 4, 5};
  Tensor backwards(memory.data() + 5, DType::f32, {2, 3}, {-3, -1});
  Tensor repeated(memory.data() + 2, DType::f32, {2, 3}, {0, 0});
  EXPECT_THAT(elements<float>(run({backwards, repeated}, [](auto& v) { return v[0] + v[1]; })),
              ElementsAre(7, 6, 5, 4, 3, 2));
  EXPECT_THAT(elements<float>(run({backwards}, [](auto& v) { return v[0]; })),
              ElementsAre(5, 4, 3, 2, 1, 0));
}

TEST(Evaluate, sizes_are_values) {
  Graph g;
  Dim n = Dim::symbol("n");
  g.input("x", DType::u8, {n});
  g.output("count", dim_value(g, n * 3 - 1));
  g.output("ramp", iota(g, {2, n}, 1, DType::f16));
  auto out = evaluate(g, {{"x", zeros<std::uint8_t>({3})}});
  EXPECT_THAT(elements<std::int64_t>(out[0]), ElementsAre(8));
  EXPECT_EQ(out[1].shape(), (Shape{2, 3}));
  EXPECT_EQ(out[1].as<std::uint16_t>()[5], 0x4000);
}

TEST(Evaluate, outputs_alias_nothing) {
  Graph g;
  Value x = g.input("x", DType::f32, {2});
  g.output("same", x);
  Value y = x + 1;
  g.output("y", y);
  g.output("y_again", y);
  auto given = tensor<float>({2}, {1, 2});
  auto out = evaluate(g, {{"x", given}});
  EXPECT_NE(out[0].data(), given.data());
  EXPECT_NE(out[1].data(), out[2].data());
  EXPECT_THAT(elements<float>(out[2]), ElementsAre(2, 3));
}

TEST(Evaluate, empty_tensors_go_through_everything) {
  Graph g;
  Dim n = Dim::symbol("n");
  Value x = g.input("x", DType::u8, {n, 3});
  g.output("gray", gray(x));
  g.output("resized", resize(x, 0, 5));
  g.output("padded", pad(x, {1, 0}, {0, 0}));
  g.output("parts", concat({x, x}, 0));
  auto out = evaluate(g, {{"x", zeros<std::uint8_t>({0, 3})}});
  EXPECT_EQ(out[0].shape(), (Shape{0}));
  EXPECT_EQ(out[1].shape(), (Shape{0, 5}));
  EXPECT_THAT(elements<std::uint8_t>(out[2]), ElementsAre(0, 0, 0));
  EXPECT_EQ(out[3].shape(), (Shape{0, 3}));
}

TEST(EvaluateAt, single_elements_equal_the_whole) {
  Graph g;
  Value x = g.input("x", DType::f32, {5, 7});
  Value centered = x - mean(x, {1}, true);
  Value shares = exp(centered) / reduce_sum(exp(centered), {1}, true);
  Value tall = transpose(pad(shares, {1, 0}, {0, 2}, "reflect"), {1, 0});
  Value winner = arg_max(tall, 1);
  std::vector<float> numbers(35);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<float>(i * i));
  Inputs given = {{"x", tensor<float>({5, 7}, numbers)}};
  auto all = evaluate_bounded(g, given);
  for (Value v : {shares, tall, winner}) {
    const Tensor& whole = all[v.id()].value;
    std::vector<Shape> indices = {Shape(whole.shape().size(), 0), Shape(whole.shape().size(), 2)};
    auto points = evaluate_at(g, v.id(), indices, given);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::int64_t linear = 0;
      for (std::size_t k = 0; k < indices[i].size(); ++k)
        linear = linear * whole.shape()[k] + indices[i][k];
      Bounded expected = all[v.id()].at(linear);
      EXPECT_EQ(points[i].value.bits, expected.value.bits);
      EXPECT_EQ(points[i].low.bits, expected.low.bits);
      EXPECT_EQ(points[i].high.bits, expected.high.bits);
    }
  }
  EXPECT_THAT(error_of([&] {
                evaluate_at(g, x.id(), std::vector<Shape>{{5, 0}}, given);
              }),
              HasSubstr("index [5, 0] of a value [5, 7]"));
}

TEST(EvaluateAt, one_element_of_a_huge_value_is_cheap) {
  Graph g;
  Value x = g.input("x", DType::f32, {Dim::symbol("n")});
  Value wide =
      reshape(broadcast_to(x * 2, {1 << 20, Dim::symbol("n")}), {Dim(1 << 20) * Dim::symbol("n")});
  auto given = Inputs{{"x", tensor<float>({3}, {1, 2, 3})}};
  auto points = evaluate_at(g, wide.id(), std::vector<Shape>{{3 * (1 << 20) - 1}}, given);
  EXPECT_EQ(points[0].value.d, 6);
  EXPECT_TRUE(points[0].is_exact());
}

}  // namespace
}  // namespace fuseline
