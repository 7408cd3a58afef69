// The passes: what each changes, what it keeps, and the pipeline around them.
#include "passes/pipeline.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuseline/ops.hpp"
#include "graph/support.hpp"
#include "passes/eliminate_dead_code.hpp"
#include "passes/fold_constants.hpp"
#include "passes/merge_common_subexpressions.hpp"

namespace fuseline {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Dim H = Dim::symbol("H");

std::size_t count_of(const Graph& g, OpCode op) {
  std::size_t count = 0;
  for (const Node& node : g.nodes()) count += node.op == op;
  return count;
}

TEST(FoldConstants, chains_of_constants_become_one) {
  Graph g;
  Value x = g.input("x", DType::f32, {H});
  Value scale = exp(g.constant(DType::f32, 1.0)) / 3;
  g.output("y", x * scale + reduce_sum(g.constant(tensor<float>({3}, {1, 2, 4}))));
  Graph folded = fold_constants(g);
  EXPECT_EQ(count_of(folded, OpCode::exp) + count_of(folded, OpCode::reduce_sum), 0u);
  EXPECT_EQ(count_of(folded, OpCode::mul), 1u);
  Inputs given = {{"x", tensor<float>({2}, {0.3f, -7})}};
  EXPECT_EQ(elements<float>(evaluate(folded, given)[0]), elements<float>(evaluate(g, given)[0]));
  EXPECT_TRUE(folded.type(folded.node_of(folded.outputs()[0].value).inputs[1]).dims.empty());
}

TEST(FoldConstants, known_sizes_become_constants) {
  Graph g;
  Value x = g.input("x", DType::f32, {H, 6});
  g.output("columns", mean(x, {1}));
  g.output("rows", mean(x, {0}));
  Graph folded = fold_constants(g);
  EXPECT_EQ(count_of(folded, OpCode::dim_value), 1u);  // H
}

TEST(FoldConstants, large_and_generated_values_stay) {
  Graph g;
  g.output("ramp", iota(g, {100}, 0, DType::f32));
  g.output("wide", broadcast_to(g.constant(DType::f32, 1.0), {1000}));
  Value column = g.constant(tensor<float>({256, 1}, std::vector<float>(256, 2)));
  g.output("table", column + g.constant(tensor<float>({65}, std::vector<float>(65))));
  EXPECT_EQ(fold_constants(g).to_text(), g.to_text());
}

TEST(FoldConstants, a_constant_slice_outside_is_named) {
  Graph g;
  g.output("y", slice(g.constant(tensor<float>({3}, {1, 2, 4})), {2}, {2}));
  EXPECT_THAT(error_of([&] { fold_constants(g); }), HasSubstr("%1 = slice: "));
}

TEST(DeadCode, only_what_outputs_need_stays_and_inputs_do) {
  Graph g;
  Value x = g.input("x", DType::f32, {H});
  g.input("unused", DType::u8, {3});
  exp(x) + 1;
  g.output("y", x * 2);
  Graph clean = eliminate_dead_code(g);
  EXPECT_EQ(clean.to_text(),
            "fuseline-graph 1\n%0 = input x : f32[H]\n%1 = input unused : u8[3]\n"
            "%2 = constant 0x1p+1 : f32[]\n%3 = mul %0 %2 : f32[H]\noutput y %3\n");
}

TEST(CommonSubexpressions, equal_work_is_done_once) {
  Graph g;
  Value x = g.input("x", DType::f32, {H, 3});
  g.output("a", exp(x * 2) + 1);
  g.output("b", reduce_sum(exp(x * 2), {1}));
  g.output("c", exp(x * 2) + 1);
  Graph merged = merge_common_subexpressions(g);
  EXPECT_EQ(count_of(merged, OpCode::exp), 1u);
  EXPECT_EQ(count_of(merged, OpCode::mul), 1u);
  EXPECT_EQ(count_of(merged, OpCode::constant), 2u);
  EXPECT_EQ(merged.outputs()[0].value, merged.outputs()[2].value);
  EXPECT_EQ(merged.outputs()[2].name, "c");
}

TEST(CommonSubexpressions, what_differs_stays_apart) {
  Graph g;
  Value x = g.input("x", DType::f32, {H, 3});
  Value y = g.input("y", DType::f32, {H, 3});
  g.output("a", reduce_sum(x, {0}));
  g.output("b", reduce_sum(x, {1}));
  g.output("c", x - y);
  g.output("d", y - x);
  g.output("e", cast(x, DType::u8));
  g.output("f", cast(x, DType::u8, Rounding::nearest));
  g.output("g", x + g.constant(DType::f32, 0.0));
  g.output("h", x + g.constant(DType::f32, -0.0));
  g.output("i", broadcast_to(g.constant(DType::i32, std::int64_t{1}), {3}));
  g.output("j", broadcast_to(g.constant(DType::u32, std::int64_t{1}), {3}));
  EXPECT_EQ(merge_common_subexpressions(g).to_text(), g.to_text());
}

TEST(Passes, names_and_order_of_inputs_and_outputs_are_kept) {
  Graph g;
  Value b = g.input("b", DType::f32, {H});
  g.input("spare", DType::f32, {});
  Value a = g.input("a", DType::f32, {H});
  g.output("z", b + a);
  g.output("pass_through", a);
  g.output("y", b + a);
  Graph out = run_passes(g, {});
  auto names = [](const std::vector<NamedValue>& list) {
    std::vector<std::string> result;
    for (const NamedValue& named : list) result.push_back(named.name);
    return result;
  };
  EXPECT_THAT(names(out.inputs()), ElementsAre("b", "spare", "a"));
  EXPECT_THAT(names(out.outputs()), ElementsAre("z", "pass_through", "y"));
  Inputs given = {
      {"a", tensor<float>({1}, {1})}, {"b", tensor<float>({1}, {2})}, {"spare", zeros<float>({})}};
  EXPECT_THAT(elements<float>(evaluate(out, given)[2]), ElementsAre(3));
}

TEST(Passes, one_can_be_disabled) {
  Graph g;
  g.output("y", g.input("x", DType::f32, {}) + exp(g.constant(DType::f32, 1.0)));
  EXPECT_EQ(count_of(run_passes(g, {.disabled_passes = {"fold_constants"}}), OpCode::exp), 1u);
  EXPECT_EQ(count_of(run_passes(g, {}), OpCode::exp), 0u);
  EXPECT_EQ(error_of([&] { run_passes(g, {.disabled_passes = {"fuse_all"}}); }),
            "no pass is named \"fuse_all\"; the passes are: lower_precision, block_channels, "
            "fold_constants, merge_common_subexpressions, eliminate_dead_code");
}

TEST(Passes, a_broken_graph_is_refused_before_the_first) {
  Graph g;
  g.output("y", dim_value(g, H));
  EXPECT_THAT(error_of([&] { run_passes(g, {}); }), HasSubstr("no input gives H"));
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Passes, dumps_show_the_graph_after_each) {
  auto folder = std::filesystem::path(FUSELINE_BINARY_DIR) / "dump_test" / "inner";
  std::filesystem::remove_all(folder);
  ::setenv("FUSELINE_DUMP", folder.c_str(), 1);
  Graph g;
  Value x = g.input("x", DType::f32, {});
  exp(x);
  g.output("y", x + exp(g.constant(DType::f32, 0.0)));
  Graph out = run_passes(g, {});
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path().filename());
  std::sort(files.begin(), files.end());
  ::unsetenv("FUSELINE_DUMP");
  ASSERT_THAT(files, ElementsAre(HasSubstr("_00_input.txt"), HasSubstr("_01_lower_precision.txt"),
                                 HasSubstr("_02_block_channels.txt"),
                                 HasSubstr("_03_fold_constants.txt"),
                                 HasSubstr("_04_merge_common_subexpressions.txt"),
                                 HasSubstr("_05_eliminate_dead_code.txt")));
  EXPECT_EQ(read(folder / files[0]), g.to_text());
  EXPECT_EQ(read(folder / files[2]), "unchanged\n");
  EXPECT_EQ(read(folder / files[4]), "unchanged\n");
  EXPECT_EQ(read(folder / files[5]), out.to_text());
}

TEST(Passes, a_dump_folder_that_cannot_be_made_is_an_error) {
  ::setenv("FUSELINE_DUMP", "/dev/null/dump", 1);
  Graph g;
  std::string message = error_of([&] { run_passes(g, {}); });
  ::unsetenv("FUSELINE_DUMP");
  EXPECT_THAT(message, HasSubstr("FUSELINE_DUMP: folder /dev/null/dump"));
}

}  // namespace
}  // namespace fuseline
