// Library calls: every form of a contraction against the reference, with and without what follows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuseline/ops.hpp"
#include "fuseline/program.hpp"
#include "graph/evaluate.hpp"

namespace fuseline {
namespace {

using ::testing::Contains;
using ::testing::Field;

Tensor numbers(const Shape& shape, int seed) {
  Tensor tensor = Tensor::allocate(DType::f32, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    tensor.as<float>()[i] = static_cast<float>((i * 37 + seed * 11) % 23 - 11) / 8;
  return tensor;
}

Value weights(Graph& g, const Shape& shape, int seed) { return g.constant(numbers(shape, seed)); }

bool has_call(const Program& program) {
  for (const KernelReport& report : program.report())
    if (report.plan.starts_with("a call of")) return true;
  return false;
}

void expect_as_evaluated(const Graph& graph, const TensorMap& inputs, bool call = true) {
  auto expected = evaluate_bounded(graph, inputs);
  for (bool fusion : {true, false}) {
    Program program = compile(graph, {.device = "cpu", .fusion = fusion});
    EXPECT_EQ(has_call(program), call);
    auto actual = program.run(inputs);
    for (std::size_t i = 0; i < actual.size(); ++i) {
      Comparison same = compare_with_oracle(actual[i], expected[graph.outputs()[i].value]);
      EXPECT_FALSE(same.first) << graph.outputs()[i].name << ", fusion " << fusion << ": "
                               << same.first->actual << " instead of " << same.first->expected;
    }
  }
}

Places places(std::vector<std::int64_t> strides, std::vector<std::int64_t> dilations, Dims before,
              Dims sizes) {
  return {std::move(strides), std::move(dilations), std::move(before), std::move(sizes)};
}

TEST(Calls, convolutions_of_every_kind) {
  struct Case {
    Shape x, w;
    Places at;
    std::int64_t groups;
  };
  const Case cases[] = {
      {{2, 3, 9, 7}, {16, 3, 3, 3}, places({2, 2}, {1, 1}, {1, 1}, {5, 4}), 1},
      {{1, 16, 9, 7}, {24, 16, 1, 1}, places({1, 1}, {1, 1}, {0, 0}, {9, 7}), 1},
      {{1, 16, 9, 7}, {8, 16, 3, 3}, places({1, 1}, {2, 2}, {2, 2}, {9, 7}), 1},
      {{1, 13, 8, 8}, {11, 13, 3, 3}, places({1, 1}, {1, 1}, {1, 0}, {8, 6}), 1},
      {{1, 8, 8, 8}, {8, 1, 3, 3}, places({1, 1}, {1, 1}, {1, 1}, {8, 8}), 8},
      {{1, 16, 8, 8}, {32, 8, 3, 3}, places({1, 1}, {1, 1}, {1, 1}, {8, 8}), 2},
      {{1, 6, 8, 8}, {4, 3, 3, 3}, places({1, 1}, {1, 1}, {1, 1}, {8, 8}), 2},
      {{1, 8, 11}, {9, 8, 3}, places({2}, {1}, {1}, {6}), 1},
      {{1, 2, 4, 5, 6}, {8, 2, 2, 2, 2}, places({1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {3, 4, 5}), 1},
  };
  for (const Case& c : cases) {
    Graph g;
    Value x = g.input("x", DType::f32, Dims(c.x.begin(), c.x.end()));
    g.output("y", conv(x, weights(g, c.w, 1), c.at, c.groups));
    SCOPED_TRACE(g.to_text());
    expect_as_evaluated(g, {{"x", numbers(c.x, 2)}});
  }
}

TEST(Calls, transposed_convolutions) {
  for (std::int64_t groups : {1, 2}) {
    Graph g;
    Value x = g.input("x", DType::f32, {1, 16, 5, 4});
    g.output("y", conv_transpose(x, weights(g, {16, 8, 3, 3}, 1),
                                 places({2, 2}, {1, 1}, {1, 0}, {10, 8}), groups));
    expect_as_evaluated(g, {{"x", numbers({1, 16, 5, 4}, 2)}});
  }
}

TEST(Calls, what_follows_is_computed_in_passing) {
  Graph g;
  Value x = g.input("x", DType::f32, {1, 8, 6, 6});
  Value y = conv(x, weights(g, {11, 8, 3, 3}, 1), places({1, 1}, {1, 1}, {1, 1}, {6, 6}));
  Value n = (y - weights(g, {11, 1, 1}, 2)) * weights(g, {11, 1, 1}, 3) / 0.5f;
  g.output("y", leaky_relu(n + weights(g, {1, 11, 1, 1}, 4), 0.25f));
  expect_as_evaluated(g, {{"x", numbers({1, 8, 6, 6}, 5)}});
  auto reports = compile(g, {.device = "cpu"}).report();
  EXPECT_THAT(reports, Contains(Field(&KernelReport::name, "conv_sub_mul_div_add_leaky_relu")));
}

// What is added has to be added after, and is not for every channel.
TEST(Calls, what_cannot_be_computed_in_passing_is_not) {
  Graph g;
  Value x = g.input("x", DType::f32, {1, 8, 6, 6});
  Value y = conv(x, weights(g, {8, 8, 3, 3}, 1), places({1, 1}, {1, 1}, {1, 1}, {6, 6}));
  g.output("columns", y + weights(g, {1, 1, 6}, 2));
  g.output("turned", 1.0f - y);
  g.output("twice", relu(y) + y);
  expect_as_evaluated(g, {{"x", numbers({1, 8, 6, 6}, 5)}});
}

TEST(Calls, matrix_products) {
  struct Case {
    Shape a, b;
  };
  const Case cases[] = {
      {{5, 7}, {7, 9}}, {{2, 5, 7}, {7, 9}}, {{2, 1, 5, 7}, {3, 7, 9}}, {{1, 4}, {4, 1}}};
  for (const Case& c : cases)
    for (bool constant : {true, false}) {
      Graph g;
      Value a = g.input("a", DType::f32, Dims(c.a.begin(), c.a.end()));
      Value b =
          constant ? weights(g, c.b, 2) : g.input("b", DType::f32, Dims(c.b.begin(), c.b.end()));
      Value y = matmul(a, b) + weights(g, {c.b.back()}, 3);
      g.output("y", relu(y));
      SCOPED_TRACE(g.to_text());
      TensorMap inputs = {{"a", numbers(c.a, 1)}};
      if (!constant) inputs.emplace_back("b", numbers(c.b, 2));
      expect_as_evaluated(g, inputs);
    }
}

TEST(Calls, operands_with_strides) {
  Graph g;
  Value x = g.input("x", DType::f32, {1, 4, 5, 6});
  g.output("y", conv(x, weights(g, {8, 4, 3, 3}, 1), places({1, 1}, {1, 1}, {1, 1}, {5, 6})));
  Tensor memory = numbers({1, 4, 5, 16}, 2);
  Tensor pitched(memory.data(), DType::f32, {1, 4, 5, 6}, {320, 80, 16, 2});
  expect_as_evaluated(g, {{"x", pitched}});
}

TEST(Calls, sizes_that_change_and_sums_over_nothing) {
  Dim rows = Dim::symbol("M"), inner = Dim::symbol("K");
  Graph g;
  Value a = g.input("a", DType::f32, {rows, inner}), b = g.input("b", DType::f32, {inner, 6});
  g.output("y", relu(matmul(a, b) + weights(g, {6}, 3)));
  for (Shape shape : {Shape{3, 4}, {1, 1}, {5, 0}, {0, 3}, {17, 33}})
    expect_as_evaluated(g, {{"a", numbers(shape, 1)}, {"b", numbers({shape[1], 6}, 2)}});
}

TEST(Calls, other_element_types_are_generated) {
  Graph g;
  Value a = g.input("a", DType::i32, {3, 4});
  g.output("y", matmul(a, g.constant(Tensor::allocate(DType::i32, {4, 2}))));
  Tensor x = Tensor::allocate(DType::i32, {3, 4});
  std::fill_n(x.as<std::int32_t>(), 12, 3);
  expect_as_evaluated(g, {{"a", x}}, false);
}

TEST(Calls, none_where_they_are_not_wanted) {
  Graph g;
  Value a = g.input("a", DType::f32, {3, 4});
  g.output("y", matmul(a, weights(g, {4, 2}, 1)));
  EXPECT_FALSE(has_call(compile(g, {.device = "cpu", .library = false})));
}

}  // namespace
}  // namespace fuseline
