// Where graphs are cut: calls, parts of concatenations, what is stored because it is dear.
#include <gmock/gmock.h>

#include "fuse/call.hpp"
#include "fuse/op_work.hpp"
#include "fuse/plan.hpp"
#include "fuseline/ops.hpp"

namespace fuseline {
namespace {

using ::testing::ElementsAre;

const Dim H = Dim::symbol("H"), W = Dim::symbol("W");

std::vector<Region> regions_of(const Graph& graph, const PartitionOptions& options = {}) {
  std::vector<Region> regions;
  for (Work& work : partition(graph, options))
    if (auto* region = std::get_if<Region>(&work)) regions.push_back(std::move(*region));
  return regions;
}

KernelPlan cpu_plan(const Region& region) {
  PlanGuards guards;
  for (const RegionSource& source : region.sources)
    guards.sources.push_back({static_cast<int>(source.dims.size())});
  return make_plan(region, guards, {.kind = DeviceKind::cpu, .vector_bytes = 32});
}

PartitionOptions in_parts() { return {.cut_concats = true}; }

TEST(Parts, equal_operands_are_written_by_one_kernel) {
  Graph g;
  Value a = g.input("a", DType::f32, {4, H, W}), b = g.input("b", DType::f32, {4, H, W});
  g.output("y", concat({exp(a) * b, exp(a) + b}, 0));
  auto regions = regions_of(g, in_parts());
  ASSERT_EQ(regions.size(), 1u);
  ASSERT_EQ(regions[0].points.size(), 2u);
  EXPECT_THAT(regions[0].points[1].starts, ElementsAre(4, 0, 0));
  EXPECT_EQ(regions_of(g)[0].points.size(), 1u);
}

TEST(Parts, each_size_has_its_kernel) {
  Graph g;
  Value a = g.input("a", DType::f32, {4, H, W}), b = g.input("b", DType::f32, {5, H, W});
  Value y = concat({a, neg(b)}, 0);
  g.output("y", y);
  g.output("z", y + 1.0f);
  auto regions = regions_of(g, in_parts());
  ASSERT_EQ(regions.size(), 3u);
  EXPECT_EQ(regions[0].points[0].value, regions[1].points[0].value);
  EXPECT_EQ(regions[2].sources[0].value, regions[0].points[0].value);
}

TEST(Parts, what_is_made_of_a_concatenation_is_cut_at_its_seams) {
  Graph g;
  Value a = g.input("a", DType::f32, {H, 40}), b = g.input("b", DType::f32, {H, 30});
  g.output("y", sigmoid(slice(concat({a, b}, 1), {0, 8}, {H, 50})));
  auto regions = regions_of(g, in_parts());
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_THAT(regions[0].space, ElementsAre(H, 32));
  EXPECT_THAT(regions[1].space, ElementsAre(H, 18));
  for (const Region& region : regions) EXPECT_EQ(cpu_plan(region).reads.size(), 1u);
}

TEST(Parts, channels_that_are_written_out_stay_together) {
  Graph g;
  Value a = g.input("a", DType::u8, {H, W, 2}), b = g.input("b", DType::u8, {H, W, 1});
  g.output("y", concat({a, b}, 2));
  EXPECT_EQ(regions_of(g, in_parts()).size(), 1u);
}

TEST(Grouping, what_is_dear_is_not_computed_at_every_place_of_a_window) {
  auto stored = [](auto&& f) {
    Graph g;
    Value x = f(g.input("x", DType::f32, {H, W}));
    g.output("y", reduce_max(window(x, {3, 3}, {{1, 1}, {1, 1}, {1, 1}, {H, W}}), {2, 3}));
    return regions_of(g).size() == 2;
  };
  EXPECT_FALSE(stored([](const Value& x) { return relu(x); }));
  EXPECT_TRUE(stored([](const Value& x) { return silu(x); }));
  EXPECT_EQ(work_of(OpCode::relu), 1);
  EXPECT_GT(work_of(OpCode::tanh), 4);
}

TEST(Calls, operands_are_stored_and_the_chain_behind_goes_along) {
  Graph g;
  Value x = g.input("x", DType::f32, {1, 2, H, W});
  Value w = g.constant(Tensor::allocate(DType::f32, {3, 2, 1, 1}));
  Value y = conv(exp(x), w, {{1, 1}, {1, 1}, {0, 0}, {H, W}});
  g.output("y", relu(y + 1.0f));
  auto work = partition(g, {.call_types = {DType::f32}});
  ASSERT_EQ(work.size(), 2u);
  const auto& call = std::get<Call>(work[1]);
  EXPECT_EQ(call.output, g.outputs()[0].value);
  EXPECT_THAT(call.epilogue.bias, ElementsAre(1, 1, 1));
  EXPECT_TRUE(call.epilogue.leaky_relu);
  EXPECT_EQ(regions_of(g).size(), 2u);
}

TEST(Plan, addresses_put_together_what_reshape_took_apart) {
  Graph g;
  Value x = g.input("x", DType::f32, {3, H, 8});
  g.output("y", transpose(reshape(x, {3, H * 8}), {0, 1}) + 1.0f);
  auto regions = regions_of(g);
  KernelPlan plan = cpu_plan(regions[0]);
  EXPECT_EQ(plan.reads.size(), 1u);
  EXPECT_EQ(plan.axes.size(), 1u);
}

TEST(Plan, arithmetic_that_all_lanes_share_is_a_term_of_the_address) {
  Graph g;
  Value x = g.input("x", DType::f32, {2, H, 8});
  g.output("y", reshape(transpose(x, {0, 2, 1}), {16, H}) + 1.0f);
  auto regions = regions_of(g);
  KernelPlan plan = cpu_plan(regions[0]);
  ASSERT_EQ(plan.reads.size(), 1u);
  EXPECT_EQ(plan.reads.begin()->second.terms.size(), 2u);
}

TEST(Plan, short_rows_are_walked_inside_the_axis_before) {
  Graph g;
  Value x = g.input("x", DType::f32, {H, W, 8}), scale = g.input("scale", DType::f32, {8});
  g.output("y", x * scale);
  auto regions = regions_of(g);
  KernelPlan plan = cpu_plan(regions[0]);
  EXPECT_EQ(plan.lanes, 8);
  EXPECT_EQ(plan.row_axis(), plan.vector_axis() - 1);
}

}  // namespace
}  // namespace fuseline
