// The kernel group's rules and meaning: values written by hand, and what is refused.
#include "fuseline/ops.hpp"
#include "graph/evaluate.hpp"
#include "support.hpp"

namespace fuseline {
namespace {

using namespace testing;

using Integers = std::vector<std::int64_t>;

template <class Build>
Tensor run(const Tensor& x, Build&& build) {
  Graph g;
  Value in = g.input("x", x.dtype(), Dims(x.shape().begin(), x.shape().end()));
  g.output("y", build(in));
  verify(g);
  EXPECT_EQ(Graph::from_text(g.to_text()).to_text(), g.to_text());
  return evaluate(g, {{"x", x}})[0];
}

TEST(SortIndices, is_stable_and_puts_nan_on_top) {
  Tensor x = tensor<float>({6}, {3, std::nanf(""), 1, 3, -1, std::nanf("")});
  auto up = run(x, [](Value v) { return sort_indices(v, 0); });
  EXPECT_EQ(elements<std::int64_t>(up), (Integers{4, 2, 0, 3, 1, 5}));
  auto down = run(x, [](Value v) { return sort_indices(v, 0, true); });
  EXPECT_EQ(elements<std::int64_t>(down), (Integers{1, 5, 0, 3, 2, 4}));
}

TEST(SortIndices, sorts_each_row_along_the_axis) {
  Tensor x = tensor<std::uint8_t>({2, 3}, {3, 1, 2, 0, 5, 2});
  auto rows = run(x, [](Value v) { return sort_indices(v, -1); });
  EXPECT_EQ(elements<std::int64_t>(rows), (Integers{1, 2, 0, 0, 2, 1}));
  auto columns = run(x, [](Value v) { return sort_indices(v, 0); });
  EXPECT_EQ(elements<std::int64_t>(columns), (Integers{1, 0, 0, 0, 1, 1}));
}

TEST(Scan, directions_and_what_is_left_out) {
  Tensor x = tensor<std::int64_t>({4}, {3, 1, 4, 1});
  auto with = [&](ScanOptions options) {
    return elements<std::int64_t>(run(x, [&](Value v) { return scan(v, 0, options); }));
  };
  EXPECT_EQ(with({}), (Integers{3, 4, 8, 9}));
  EXPECT_EQ(with({Combine::add, true}), (Integers{0, 3, 4, 8}));
  EXPECT_EQ(with({Combine::add, false, true}), (Integers{9, 6, 5, 1}));
  EXPECT_EQ(with({Combine::mul, true, true}), (Integers{4, 4, 1, 1}));
  EXPECT_EQ(with({Combine::max}), (Integers{3, 3, 4, 4}));
  EXPECT_EQ(with({Combine::min}), (Integers{3, 1, 1, 1}));
}

TEST(Scatter, the_last_of_equal_indices_wins_and_outsiders_are_ignored) {
  Tensor x = tensor<std::int64_t>({3, 1}, {10, 20, 30});
  auto with = [&](Combine combine) {
    return elements<std::int64_t>(run(x, [&](Value v) {
      Graph& g = v.graph();
      Value at = g.constant(tensor<std::int64_t>({4}, {2, 0, 2, -1}));
      return scatter(v, at, g.constant(tensor<std::int64_t>({4, 1}, {1, 2, 3, 4})), combine);
    }));
  };
  EXPECT_EQ(with(Combine::set), (Integers{2, 20, 3}));
  EXPECT_EQ(with(Combine::add), (Integers{12, 20, 34}));
  EXPECT_EQ(with(Combine::mul), (Integers{20, 20, 90}));
  EXPECT_EQ(with(Combine::min), (Integers{2, 20, 1}));
  EXPECT_EQ(with(Combine::max), (Integers{10, 20, 30}));
}

TEST(NonzeroPositions, are_as_many_as_there_are) {
  Tensor x = tensor<float>({2, 3}, {0, 1, 0, -2, 0, 5});
  auto found = run(x, [](Value v) { return nonzero_positions(v, "n"); });
  EXPECT_EQ(elements<std::int64_t>(found), (Integers{1, 3, 5}));
  auto none = run(zeros<float>({2, 3}), [](Value v) { return nonzero_positions(v, "n"); });
  EXPECT_EQ(none.shape(), Shape{0});
}

TEST(LateSizes, single_elements_can_be_computed) {
  Graph g;
  Value x = g.input("x", DType::f32, {6});
  Value found = nonzero_positions(x, "n");
  g.output("y", found + dim_value(g, Dim::late("n")));
  Tensor given = tensor<float>({6}, {0, 1, 0, -2, 0, 5});
  std::vector<Shape> where = {{0}, {2}};
  std::vector<NamedTensor> inputs = {{"x", given}};
  auto got = evaluate_at(g, g.outputs()[0].value, where, inputs);
  EXPECT_EQ(got[0].value.i, 4);
  EXPECT_EQ(got[1].value.i, 8);
}

TEST(KernelOps, refusals_say_what_is_needed) {
  Graph g;
  Value x = g.input("x", DType::f32, {4, 2}), flags = g.input("flags", DType::bool_, {4});
  Value at = g.input("at", DType::i64, {3});
  EXPECT_EQ(error_of([&] { sort_indices(x, 2); }), "axis 2 of a tensor with 2 axes");
  EXPECT_EQ(error_of([&] { scan(flags, 0); }), "scan: operand of type bool; cast it");
  EXPECT_EQ(error_of([&] { scan(x, 0, {Combine::set}); }),
            "scan: combine \"set\"; use add, mul, min or max");
  EXPECT_EQ(error_of([&] { scatter(x, at, x); }),
            "scatter: 3 indices and updates [4, 2] for data [4, 2]");
  EXPECT_EQ(error_of([&] { scatter(x, flags, x); }),
            "scatter: indices bool[4]; i64 with 1 axes is needed");
  EXPECT_EQ(error_of([&] { bit_cast(x, DType::f64); }), "bit_cast: f32 has 4 bytes, f64 has 8");
  EXPECT_EQ(error_of([&] { late_size(at, "n"); }),
            "late_size: a size i64[3]; i64 with 0 axes is needed");
}

TEST(KernelOps, late_names_are_given_once_and_before_they_are_used) {
  Graph g;
  Value n = g.input("n", DType::i64, {});
  late_size(n, "a");
  late_size(n, "a");
  EXPECT_NE(error_of([&] { verify(g); }).find("late(a) is given twice"), std::string::npos);
  Graph h;
  Value m = h.input("m", DType::i64, {});
  h.output("y", broadcast_to(m, {Dim::late("b")}));
  EXPECT_NE(error_of([&] { verify(h); }).find("no input gives late(b)"), std::string::npos);
}

}  // namespace
}  // namespace fuseline
