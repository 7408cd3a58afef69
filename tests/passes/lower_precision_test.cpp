// Lower precision: which values change their type, and which do not.
#include "passes/lower_precision.hpp"

#include <gmock/gmock.h>

#include "fuseline/ops.hpp"
#include "graph/support.hpp"
#include "passes/pipeline.hpp"

namespace fuseline {
namespace {

using namespace testing;
using ::testing::HasSubstr;

// x [4, 8] by weights, a softmax, by weights again; every step from a node of its own.
struct TwoLayers {
  TwoLayers() {
    Value x = g.input("x", DType::f32, {4, 8});
    Value w = g.constant(tensor<float>({8, 8}, std::vector<float>(64, 0.1f)));
    g.set_origin("first");
    Value a = matmul(x, w);
    g.set_origin("act");
    Value b = relu(a);
    g.set_origin("soft");
    Value e = exp(b);
    Value s = e / reduce_sum(e, {1}, true);
    g.set_origin("second");
    g.output("y", matmul(s, w));
  }
  Graph g;
};

DType type_of(const Graph& g, const std::string& origin, OpCode op) {
  for (const Node& node : g.nodes())
    if (node.origin == origin && node.op == op) return g.type(node.output).dtype;
  ADD_FAILURE() << origin << ": no such node in\n" << g.to_text();
  return DType::u8;
}

TEST(LowerPrecision, contractions_are_lowered_and_sums_stay) {
  TwoLayers t;
  Graph low = lower_precision(t.g, DType::bf16, {});
  EXPECT_EQ(type_of(low, "first", OpCode::matmul), DType::bf16);
  EXPECT_EQ(type_of(low, "act", OpCode::relu), DType::bf16);
  EXPECT_EQ(type_of(low, "soft", OpCode::reduce_sum), DType::f32);
  EXPECT_EQ(type_of(low, "soft", OpCode::div), DType::f32);
  EXPECT_EQ(type_of(low, "second", OpCode::matmul), DType::bf16);
  EXPECT_EQ(low.type(low.outputs()[0].value).dtype, DType::f32);
  EXPECT_EQ(low.type(low.inputs()[0].value).dtype, DType::f32);
  Inputs given = {{"x", tensor<float>({4, 8}, std::vector<float>(32, 0.7f))}};
  std::vector<float> exact = elements<float>(evaluate(t.g, given)[0]);
  std::vector<float> rounded = elements<float>(evaluate(low, given)[0]);
  EXPECT_NE(exact, rounded);
  for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(exact[i], rounded[i], 0.01f);
}

TEST(LowerPrecision, kept_nodes_compute_in_fp32) {
  TwoLayers t;
  Graph low = lower_precision(t.g, DType::f16, {"second"});
  EXPECT_EQ(type_of(low, "first", OpCode::matmul), DType::f16);
  EXPECT_EQ(type_of(low, "second", OpCode::matmul), DType::f32);
}

TEST(LowerPrecision, names_of_kept_nodes_are_checked) {
  TwoLayers t;
  EXPECT_THAT(error_of([&] { run_passes(t.g, {.keep_fp32 = {"secnod"}}); }),
              HasSubstr("did you mean \"second\"?"));
  EXPECT_THAT(error_of([&] { run_passes(t.g, {.keep_fp32 = {"nothing-like-it"}}); }),
              HasSubstr("nodes are: act, first, second, soft"));
}

// A node that a pass joined to the one behind it is found under that one's name.
TEST(LowerPrecision, names_follow_nodes_that_were_joined) {
  TwoLayers t;
  Graph joined;
  joined.input("x", DType::f32, {4});
  joined.set_origin("act");
  joined.output("y", relu(joined.value(0)));
  EXPECT_THAT(kept_in(joined, t.g, {"first"}), ::testing::ElementsAre("first", "act"));
  EXPECT_THAT(kept_in(t.g, t.g, {"first"}), ::testing::ElementsAre("first"));
}

TEST(LowerPrecision, explicit_casts_and_positions_stay) {
  Graph g;
  Value x = g.input("x", DType::f32, {8});
  Value at = g.input("at", DType::f32, {3});
  Value half = cast(cast(x, DType::f16), DType::f32);
  Value index = cast(floor(at * 7), DType::i64);
  g.output("y", gather(half + 1, index, 0));
  Graph low = lower_precision(g, DType::bf16, {});
  std::string text = low.to_text();
  EXPECT_THAT(text, HasSubstr("f16[8]"));
  for (const Node& node : low.nodes()) {
    if (node.op == OpCode::floor || node.op == OpCode::mul) {
      EXPECT_EQ(low.type(node.output).dtype, DType::f32) << text;
    }
    if (node.op == OpCode::add || node.op == OpCode::gather) {
      EXPECT_EQ(low.type(node.output).dtype, DType::bf16) << text;
    }
  }
}

TEST(LowerPrecision, constants_that_f16_cannot_hold_stay) {
  Graph g;
  Value x = g.input("x", DType::f32, {8});
  g.output("small", x + 1e-12);
  g.output("large", minimum(x, g.constant(DType::f32, 1e30)));
  Graph half = lower_precision(g, DType::f16, {});
  Graph brain = lower_precision(g, DType::bf16, {});
  for (OpCode op : {OpCode::add, OpCode::minimum}) {
    EXPECT_EQ(type_of(half, "", op), DType::f32);
    EXPECT_EQ(type_of(brain, "", op), DType::bf16);
  }
}

}  // namespace
}  // namespace fuseline
