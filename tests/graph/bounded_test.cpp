// The intervals of the reference: wide enough for honest f32 arithmetic, narrow enough for
// mistakes.
#include "graph/bounded.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <random>

#include "fuseline/ops.hpp"
#include "graph/evaluate.hpp"
#include "support.hpp"

namespace fuseline {
namespace {

using namespace testing;
using ::testing::HasSubstr;

Evaluated bounded(const std::vector<Tensor>& inputs,
                  const std::function<Value(const std::vector<Value>&)>& build) {
  Graph g;
  std::vector<Value> values;
  Inputs given;
  for (const Tensor& input : inputs) {
    given.emplace_back("in" + std::to_string(given.size()), input);
    values.push_back(g.input(given.back().first, input.dtype(),
                             Dims(input.shape().begin(), input.shape().end())));
  }
  ValueId out = build(values).id();
  return evaluate_bounded(g, given)[out];
}

Tensor random_floats(std::int64_t n, float low, float high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> between(low, high);
  std::vector<float> numbers(static_cast<std::size_t>(n));
  for (float& x : numbers) x = between(random);
  return tensor<float>({n}, numbers);
}

// `kernel` computes element by element what `build` says, in f32 as generated code would.
Comparison compare(const std::vector<Tensor>& inputs,
                   const std::function<Value(const std::vector<Value>&)>& build,
                   const std::function<float(const float*)>& kernel) {
  Tensor actual = Tensor::allocate(DType::f32, inputs[0].shape());
  for (std::int64_t i = 0; i < actual.size(); ++i) {
    float args[3] = {};
    for (std::size_t k = 0; k < inputs.size(); ++k) args[k] = inputs[k].as<float>()[i];
    actual.as<float>()[i] = kernel(args);
  }
  return compare_with_oracle(actual, bounded(inputs, build));
}

struct Chain {
  const char* name;
  std::function<Value(const std::vector<Value>&)> build;
  std::function<float(const float*)> kernel;
};

const Chain chains[] = {
    {"a * b + c", [](auto& v) { return v[0] * v[1] + v[2]; },
     [](const float* x) { return x[0] * x[1] + x[2]; }},
    {"fused multiply-add", [](auto& v) { return v[0] * v[1] + v[2]; },
     [](const float* x) { return std::fmaf(x[0], x[1], x[2]); }},
    {"exp, log and tanh", [](auto& v) { return log(exp(v[0]) + 1) * tanh(v[1]); },
     [](const float* x) { return std::log(std::exp(x[0]) + 1) * std::tanh(x[1]); }},
    {"sigmoid", [](auto& v) { return sigmoid(v[0] * 40); },
     [](const float* x) { return 1 / (1 + std::exp(-(x[0] * 40))); }},
    {"cancellation", [](auto& v) { return exp(v[0]) - exp(v[0] + 0.001f); },
     [](const float* x) { return std::exp(x[0]) - std::exp(x[0] + 0.001f); }},
    {"division", [](auto& v) { return sin(v[0]) / (v[1] * v[1] + 0.5f); },
     [](const float* x) { return std::sin(x[0]) / (x[1] * x[1] + 0.5f); }},
    {"gelu", [](auto& v) { return gelu(v[0]); },
     [](const float* x) { return 0.5f * x[0] * (1 + std::erf(x[0] * 0.70710678f)); }},
    {"pow", [](auto& v) { return pow(exp(v[0]), v[1]); },
     [](const float* x) { return std::pow(std::exp(x[0]), x[1]); }},
};

TEST(Bounded, honest_single_precision_is_allowed) {
  std::vector<Tensor> inputs = {random_floats(5000, -3, 3, 1), random_floats(5000, -3, 3, 2),
                                random_floats(5000, -3, 3, 3)};
  for (const Chain& chain : chains) {
    Comparison c = compare(inputs, chain.build, chain.kernel);
    EXPECT_EQ(c.mismatches, 0) << chain.name << ": " << c.first->actual << " instead of "
                               << c.first->expected << " " << c.first->allowed;
    EXPECT_EQ(c.anything, 0) << chain.name;
    EXPECT_GT(c.inexact, 3000) << chain.name;
  }
}

TEST(Bounded, small_mistakes_are_found) {
  std::vector<Tensor> inputs = {random_floats(1000, -3, 3, 1), random_floats(1000, -3, 3, 2),
                                random_floats(1000, -3, 3, 3)};
  for (const Chain& chain : chains) {
    // What cancellation leaves has fewer digits to judge.
    float factor = chain.name == std::string("cancellation") ? 1.01f : 1.0003f;
    auto wrong = [&](const float* x) { return chain.kernel(x) * factor; };
    EXPECT_GT(compare(inputs, chain.build, wrong).mismatches, 500) << chain.name;
  }
  // Half precision inside is not single precision.
  auto rough = [](const float* x) {
    Number n{.d = std::exp(x[0])};
    return static_cast<float>(round_to(n, DType::f16).d);
  };
  EXPECT_GT(compare(
                inputs, [](auto& v) { return exp(v[0]); }, rough)
                .mismatches,
            900);
}

TEST(Bounded, exact_arithmetic_stays_exact) {
  auto x = tensor<float>({4}, {1, 2, 3, 4});
  EXPECT_TRUE(bounded({x}, [](auto& v) { return v[0] * 2 + 1; }).elements.empty());
  EXPECT_TRUE(bounded({x}, [](auto& v) { return relu(-v[0]); }).elements.empty());
  EXPECT_TRUE(bounded({x}, [](auto& v) { return v[0] > 2; }).elements.empty());
  EXPECT_FALSE(bounded({x}, [](auto& v) { return v[0] / 3; }).elements.empty());
  auto bytes = tensor<std::uint8_t>({1, 2, 3}, {9, 8, 7, 200, 1, 13});
  EXPECT_TRUE(bounded({bytes}, [](auto& v) { return resize(v[0], 3, 5); }).elements.empty());
  EXPECT_TRUE(bounded({bytes}, [](auto& v) { return count(gray(v[0]) > 10); }).elements.empty());
}

TEST(Bounded, comparisons_near_their_limit_may_go_either_way) {
  auto x = tensor<float>({3}, {0.1f, 1, 10});
  // exp(log(x)) is 1 up to rounding, so x >= 1 is open for the middle element only.
  auto build = [](auto& v) { return exp(log(v[0])) >= 1; };
  Evaluated e = bounded({x}, build);
  ASSERT_EQ(e.elements.size(), 3u);
  EXPECT_TRUE(e.elements[0].is_exact() && !e.elements[1].is_exact() && e.elements[2].is_exact());
  for (bool middle : {false, true}) {
    EXPECT_EQ(compare_with_oracle(tensor<bool>({3}, {false, middle, true}), e).mismatches, 0);
  }
  Comparison wrong = compare_with_oracle(tensor<bool>({3}, {true, true, true}), e);
  EXPECT_EQ(wrong.mismatches, 1);
  EXPECT_EQ(wrong.first->allowed, "exactly that");
  Evaluated area = bounded({x}, [&](auto& v) { return count(build(v)); });
  EXPECT_EQ(area.at(0).low.i, 1);
  EXPECT_EQ(area.at(0).high.i, 2);
  Evaluated picked = bounded({x}, [&](auto& v) { return where(build(v), v[0] * 5, -v[0]); });
  EXPECT_EQ(picked.at(1).low.d, -1);
  EXPECT_EQ(picked.at(1).high.d, 5);
  EXPECT_EQ(picked.at(2).low.d, 50);
}

TEST(Bounded, steps_behind_floats_have_both_sides) {
  auto x = tensor<float>({2}, {1, 2.5f});
  auto build = [](auto& v) { return cast(floor(exp(log(v[0]))), DType::u8); };
  Evaluated e = bounded({x}, build);
  EXPECT_EQ(e.at(0).low.u, 0u);
  EXPECT_EQ(e.at(0).high.u, 1u);
  EXPECT_TRUE(e.at(1).is_exact());
  Evaluated sum = bounded({x}, [&](auto& v) { return reduce_sum(build(v)); });
  EXPECT_EQ(sum.at(0).low.u, 2u);
  EXPECT_EQ(sum.at(0).high.u, 3u);
}

TEST(Bounded, division_by_what_may_be_zero_may_give_anything) {
  auto x = tensor<float>({1}, {1});
  Evaluated e = bounded({x}, [](auto& v) { return v[0] / log(exp(v[0] - 1)); });
  EXPECT_TRUE(is_anything(e.at(0), DType::f32));
  auto nan = tensor<float>({1}, {std::nanf("")});
  EXPECT_EQ(compare_with_oracle(nan, e).anything, 1);
}

TEST(Bounded, nan_and_infinity_are_compared) {
  auto x = tensor<float>({3}, {-1, 0, 1e30f});
  Evaluated e = bounded({x}, [](auto& v) { return log(v[0]) * 1e38f; });
  float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(compare_with_oracle(tensor<float>({3}, {nan, -inf, inf}), e).mismatches, 0);
  EXPECT_EQ(compare_with_oracle(tensor<float>({3}, {0, -inf, inf}), e).mismatches, 1);
  EXPECT_EQ(compare_with_oracle(tensor<float>({3}, {nan, inf, inf}), e).mismatches, 1);
  EXPECT_EQ(compare_with_oracle(tensor<float>({3}, {nan, -inf, 3e38f}), e).mismatches, 1);
}

// Lanes and threads with a partial sum each, as kernels add up.
float lane_sum(const Tensor& x, std::size_t lanes) {
  std::vector<float> partial(lanes);
  for (std::int64_t i = 0; i < x.size(); ++i)
    partial[static_cast<std::size_t>(i) % lanes] += x.as<float>()[i];
  float sum = 0;
  for (float p : partial) sum += p;
  return sum;
}

TEST(Bounded, sums_in_any_fixed_order_are_allowed_and_missing_terms_are_not) {
  for (std::int64_t n : {1, 2, 7, 1000, 100000}) {
    Tensor x = random_floats(n, 0, 1, 5);
    Evaluated e = bounded({x}, [](auto& v) { return reduce_sum(v[0]); });
    for (std::size_t lanes : {1, 8, 256}) {
      Comparison c = compare_with_oracle(tensor<float>({}, {lane_sum(x, lanes)}), e);
      EXPECT_EQ(c.mismatches, 0) << n << " in " << lanes;
    }
    // One lane of 256 is lost, or the one element.
    Tensor rest(x.as<float>(), DType::f32, {n - std::max<std::int64_t>(n / 256, 1)});
    Comparison wrong = compare_with_oracle(tensor<float>({}, {lane_sum(rest, 8)}), e);
    EXPECT_EQ(wrong.mismatches, 1) << n;
  }
}

TEST(Bounded, half_sums_accumulate_in_single_precision) {
  Tensor x = random_floats(3000, 0, 1, 6);
  Evaluated e =
      bounded({x}, [](auto& v) { return cast(reduce_sum(cast(v[0], DType::f16)), DType::f32); });
  float in_single = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    Number n{.d = x.as<float>()[i]};
    in_single += static_cast<float>(round_to(n, DType::f16).d);
  }
  float rounded = static_cast<float>(round_to({.d = in_single}, DType::f16).d);
  EXPECT_EQ(compare_with_oracle(tensor<float>({}, {rounded}), e).mismatches, 0);
  EXPECT_EQ(compare_with_oracle(tensor<float>({}, {rounded * 1.002f}), e).mismatches, 1);
}

TEST(Bounded, fused_halves_may_skip_the_rounding_between_values) {
  auto x = tensor<float>({1}, {0.1f});
  auto build = [](auto& v) { return cast(cast(v[0], DType::f16) * 3 + 1, DType::f32); };
  Evaluated e = bounded({x}, build);
  float half = static_cast<float>(round_to({.d = 0.1f}, DType::f16).d);
  float fused = static_cast<float>(round_to({.d = half * 3 + 1}, DType::f16).d);
  float each = static_cast<float>(
      round_to({.d = round_to({.d = half * 3}, DType::f16).d + 1}, DType::f16).d);
  EXPECT_EQ(compare_with_oracle(tensor<float>({1}, {fused}), e).mismatches, 0);
  EXPECT_EQ(compare_with_oracle(tensor<float>({1}, {each}), e).mismatches, 0);
  EXPECT_EQ(compare_with_oracle(tensor<float>({1}, {each * 1.004f}), e).mismatches, 1);
}

TEST(Bounded, products_and_extremes_follow_their_terms) {
  Tensor x = random_floats(50, 0.5f, 1.5f, 7);
  auto root = [](const Value& v) { return sqrt(v); };
  Evaluated product = bounded({x}, [&](auto& v) { return reduce_prod(root(v[0])); });
  Evaluated largest = bounded({x}, [&](auto& v) { return reduce_max(root(v[0])); });
  float p = 1, m = 0;
  for (int i = 50; i-- > 0;) {
    float r = std::sqrt(x.as<float>()[i]);
    p *= r;
    m = std::max(m, r);
  }
  EXPECT_EQ(compare_with_oracle(tensor<float>({}, {p}), product).mismatches, 0);
  EXPECT_EQ(compare_with_oracle(tensor<float>({}, {p * 1.0001f}), product).mismatches, 1);
  EXPECT_EQ(compare_with_oracle(tensor<float>({}, {m}), largest).mismatches, 0);
  EXPECT_EQ(compare_with_oracle(tensor<float>({}, {m * 1.00001f}), largest).mismatches, 1);
}

TEST(Bounded, the_winner_may_be_any_that_rounding_can_lift) {
  auto x = tensor<float>({5}, {1, 3, 2, 3, 0});
  Evaluated e = bounded({x}, [](auto& v) { return arg_max(exp(log(v[0] + 1) / 3 * 3), 0); });
  EXPECT_EQ(e.at(0).low.i, 1);
  EXPECT_EQ(e.at(0).high.i, 3);
  Evaluated sure = bounded({x}, [](auto& v) { return arg_max(v[0], 0); });
  EXPECT_TRUE(sure.elements.empty());
}

TEST(Bounded, comparing_other_shapes_is_an_error) {
  Evaluated e = bounded({zeros<float>({2})}, [](auto& v) { return v[0]; });
  EXPECT_EQ(error_of([&] { compare_with_oracle(zeros<float>({3}), e); }),
            "f32[3] is compared with f32[2]");
}

}  // namespace
}  // namespace fuseline
