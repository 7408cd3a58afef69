// Blocked channels compute what the plain order does, to the last bit of the reference.
#include "passes/block_channels.hpp"

#include <gmock/gmock.h>

#include "fuseline/ops.hpp"
#include "graph/support.hpp"

namespace fuseline {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

Target with_block(std::int64_t block) {
  Target target;
  target.library_calls = true;
  target.channel_block = block;
  return target;
}

Tensor numbers(const Shape& shape, int seed) {
  Tensor tensor = Tensor::allocate(DType::f32, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    tensor.as<float>()[i] = static_cast<float>((i * 37 + seed * 11) % 23 - 11) / 4;
  return tensor;
}

Value weights(Graph& g, const Shape& shape, int seed) { return g.constant(numbers(shape, seed)); }

Value same_size(Graph& g, const Value& x, std::int64_t from, std::int64_t to, int seed) {
  return conv(x, weights(g, {to, from, 3, 3}, seed),
              {{1, 1}, {1, 1}, {1, 1}, {x.dims()[2], x.dims()[3]}});
}

// Convolutions with the operations between them that follow the blocks.
Graph network(std::int64_t channels) {
  Graph g;
  Value x = g.input("x", DType::f32, {1, 3, 6, 5});
  Value a = relu(same_size(g, x, 3, channels, 1));
  Value b = a * weights(g, {channels, 1, 1}, 2) + weights(g, {channels, 1, 1}, 3);
  Value pooled = reduce_max(window(b, {3, 3}, {{1, 1}, {1, 1}, {1, 1}, {6, 5}}, -100), {4, 5});
  Value joined = concat({a, pooled, x}, 1);
  Value c = same_size(g, joined, 2 * channels + 3, channels, 4);
  Value near = gather(c, g.constant(tensor<std::int64_t>({4}, {0, 2, 3, 5})), 2);
  Value edge = pad(near, {0, 0, 1, 1}, {0, 0, 1, 0}, "edge");
  Value mean = reduce_sum(edge, {2, 3}, true) * 0.125f;
  g.output("y", edge * sigmoid(mean));
  g.output("c", slice(c, {0, 1, 0, 0}, {1, channels - 1, 6, 5}));
  return g;
}

void expect_same(const Graph& plain, const Graph& blocked) {
  std::vector<std::pair<std::string, Tensor>> inputs = {{"x", numbers({1, 3, 6, 5}, 5)}};
  std::vector<Tensor> wanted = evaluate(plain, inputs), got = evaluate(blocked, inputs);
  ASSERT_EQ(wanted.size(), got.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(wanted[i].shape(), got[i].shape());
    for (std::int64_t k = 0; k < wanted[i].size(); ++k)
      ASSERT_EQ(wanted[i].as<float>()[k], got[i].as<float>()[k]) << i << " at " << k;
  }
}

TEST(BlockChannels, whole_blocks) {
  Graph plain = network(16), blocked = block_channels(plain, with_block(8));
  verify(blocked);
  EXPECT_THAT(blocked.to_text(), HasSubstr("y_block=8"));
  expect_same(plain, blocked);
}

TEST(BlockChannels, a_last_block_that_is_not_full) {
  for (std::int64_t channels : {9, 11, 20}) {
    Graph plain = network(channels), blocked = block_channels(plain, with_block(8));
    verify(blocked);
    expect_same(plain, blocked);
  }
}

TEST(BlockChannels, channels_last_is_one_block) {
  Graph plain = network(12), blocked = block_channels(plain, with_block(0));
  verify(blocked);
  EXPECT_THAT(blocked.to_text(), HasSubstr("y_block=12"));
  expect_same(plain, blocked);
}

TEST(BlockChannels, groups_that_are_no_blocks_stay_plain) {
  Graph g;
  Value x = g.input("x", DType::f32, {1, 3, 6, 5});
  Value y = conv(concat({x, x, x, x}, 1), weights(g, {12, 4, 3, 3}, 1),
                 {{1, 1}, {1, 1}, {1, 1}, {6, 5}}, 3);
  g.output("y", y);
  EXPECT_THAT(block_channels(g, with_block(8)).to_text(), Not(HasSubstr("y_block")));
}

TEST(BlockChannels, transposed_and_depthwise_convolutions) {
  Graph g;
  Value x = g.input("x", DType::f32, {1, 3, 6, 5});
  Value a = same_size(g, x, 3, 10, 1);
  Value deep = conv(a, weights(g, {10, 1, 3, 3}, 2), {{2, 2}, {1, 1}, {1, 1}, {3, 3}}, 10);
  Value up = conv_transpose(deep, weights(g, {10, 7, 2, 2}, 3), {{2, 2}, {1, 1}, {0, 0}, {6, 6}});
  g.output("y", up);
  Graph blocked = block_channels(g, with_block(8));
  verify(blocked);
  expect_same(g, blocked);
}

}  // namespace
}  // namespace fuseline
