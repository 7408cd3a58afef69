// Sizes that are known only while a Program runs.
#include <gtest/gtest.h>

#include <cstdlib>

#include "fuseline/error.hpp"
#include "fuseline/ops.hpp"
#include "fuseline/program.hpp"
#include "graph/evaluate.hpp"
#include "program/cut_segments.hpp"

namespace fuseline {
namespace {

const int own_cache = setenv("FUSELINE_CACHE_DIR", FUSELINE_BINARY_DIR "/tests/kernel-cache", 0);

Tensor floats(const std::vector<float>& values) {
  Tensor tensor = Tensor::allocate(DType::f32, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.as<float>());
  return tensor;
}

// The elements above a limit, and how they compare with their largest.
Graph above() {
  Graph g;
  Value x = g.input("x", DType::f32, {Dim::symbol("N")});
  Value limit = g.input("limit", DType::f32, {});
  Value found = gather(x * 2, nonzero_positions(x > limit, "found"), 0);
  g.output("found", found);
  g.output("share", found / reduce_max(found));
  g.output("all", reduce_sum(x));
  return g;
}

void expect_equal(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].shape(), want[i].shape()) << i;
    for (std::int64_t n = 0; n < got[i].size(); ++n)
      EXPECT_FLOAT_EQ(got[i].as<float>()[n], want[i].as<float>()[n]) << i;
  }
}

TEST(Late, results_are_as_large_as_the_data_says) {
  Graph g = above();
  Program program = compile(g, {.device = "cpu"});
  Lane lane = program.make_lane();
  for (float limit : {0.0f, 2.5f, 100.0f, -100.0f, 2.5f}) {
    Tensor bound = Tensor::allocate(DType::f32, {});
    *bound.as<float>() = limit;
    TensorMap inputs = {{"x", floats({1, 5, -2, 3, 3, 0, 9})}, {"limit", bound}};
    std::vector<Tensor> want = evaluate(g, inputs);
    expect_equal(program.run(inputs), want);
    TensorMap outputs;
    std::vector<Tensor> given;
    for (std::size_t i = 0; i < want.size(); ++i) {
      given.push_back(Tensor::allocate(DType::f32, want[i].shape()));
      outputs.emplace_back(g.outputs()[i].name, given.back());
    }
    lane.run(inputs, outputs);
    expect_equal(given, want);
  }
  EXPECT_EQ(program.stats().kernels > 0, true);
}

TEST(Late, the_text_keeps_them) {
  Graph g = above();
  Graph again = Graph::from_text(g.to_text());
  verify(again);
  EXPECT_EQ(again.to_text(), g.to_text());
}

TEST(Late, a_size_that_follows_from_a_late_one) {
  Graph g;
  Value x = g.input("x", DType::f32, {Dim::symbol("N")});
  Value first = gather(x, nonzero_positions(x > 0, "a"), 0);
  Value second = gather(first, nonzero_positions(first < 4, "b"), 0);
  g.output("pairs", reshape(second, {Dim::late("b"), 1}) + reshape(first, {1, Dim::late("a")}));
  EXPECT_EQ(cut_segments(g).size(), 3u);
  TensorMap inputs = {{"x", floats({1, 5, -2, 3, 3, 0, 9})}};
  expect_equal(compile(g, {.device = "cpu"}).run(inputs), evaluate(g, inputs));
}

TEST(Late, sizes_are_told_when_they_cannot_be) {
  Program program = compile(above(), {.device = "cpu"});
  Tensor bound = Tensor::allocate(DType::f32, {});
  *bound.as<float>() = 0;
  TensorMap inputs = {{"x", floats({1, 2})}, {"limit", bound}};
  try {
    program.output_shapes(inputs);
    ADD_FAILURE() << "no Error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "output found: its size late(found) is known only after a run");
  }
  try {
    program.run({{"x", floats({1, 2})}});
    ADD_FAILURE() << "no Error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("input limit is missing"), std::string::npos);
  }
}

TEST(Late, the_report_says_where_a_segment_begins) {
  bool told = false;
  for (const KernelReport& report : compile(above(), {.device = "cpu"}).report())
    for (const std::string& reason : report.reasons)
      told = told || reason.find("late(found)") != std::string::npos;
  EXPECT_TRUE(told);
}

TEST(Late, a_negative_size_is_refused) {
  Graph g;
  Value n = g.input("n", DType::i64, {});
  Value x = g.input("x", DType::f32, {Dim::symbol("N")});
  Dim size = late_size(n - 3, "size");
  g.output("y", broadcast_to(reduce_sum(x), {size}));
  Program program = compile(g, {.device = "cpu"});
  Tensor count = Tensor::allocate(DType::i64, {});
  *count.as<std::int64_t>() = 5;
  EXPECT_EQ(program.run({{"n", count}, {"x", floats({1, 2})}})[0].shape(), Shape{2});
  *count.as<std::int64_t>() = 1;
  EXPECT_THROW(program.run({{"n", count}, {"x", floats({1, 2})}}), Error);
  EXPECT_THROW(evaluate(g, {{"n", count}, {"x", floats({1, 2})}}), Error);
}

}  // namespace
}  // namespace fuseline
