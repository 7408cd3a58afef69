// Binding of input shapes to sizes, and the checks of concrete sizes.
#include "graph/check_sizes.hpp"

#include <gmock/gmock.h>

#include "fuseline/ops.hpp"
#include "support.hpp"

namespace fuseline {
namespace {

using namespace testing;
using ::testing::HasSubstr;

const Dim H = Dim::symbol("H"), W = Dim::symbol("W");

TEST(BindSizes, symbols_come_from_shapes) {
  Graph g;
  g.input("a", DType::u8, {H, W, 3});
  g.input("b", DType::f32, {H * W, Dim(2) * H});
  Inputs given = {{"b", zeros<float>({6, 4})}, {"a", zeros<std::uint8_t>({2, 3, 3})}};
  EXPECT_EQ(bind_sizes(g, given), (DimBindings{{"H", 2}, {"W", 3}}));
}

TEST(BindSizes, differences_are_named) {
  Graph g;
  g.input("a", DType::u8, {H, W, 3});
  g.input("b", DType::f32, {H, H + W});
  auto message = [&](Tensor a, Tensor b) {
    Inputs given = {{"a", std::move(a)}, {"b", std::move(b)}};
    return error_of([&] { bind_sizes(g, given); });
  };
  auto a = zeros<std::uint8_t>({2, 3, 3});
  auto b = zeros<float>({2, 5});
  EXPECT_EQ(message(zeros<std::uint8_t>({2, 3, 4}), b),
            "input a, axis 2: size 4 received, 3 expected");
  EXPECT_EQ(message(a, zeros<float>({3, 5})),
            "input b, axis 0: size 3 received, 2 expected (H as in input a, axis 0)");
  EXPECT_EQ(message(a, zeros<float>({2, 6})),
            "input b, axis 1: size 6 received, 5 expected (H + W)");
  EXPECT_EQ(message(a, zeros<std::int32_t>({2, 5})),
            "input b: element type i32 received, f32 expected");
  EXPECT_THAT(message(zeros<std::uint8_t>({2, 3}), b),
              HasSubstr("input a: shape [2, 3] with 2 axes received, [H, W, 3] with 3"));
  EXPECT_THAT(message(Tensor(static_cast<void*>(nullptr), DType::u8, {2, 3, 3}), b),
              HasSubstr("no memory"));
}

TEST(BindSizes, names_are_checked) {
  Graph g;
  g.input("frame", DType::u8, {H});
  g.input("weights", DType::u8, {H});
  auto one = zeros<std::uint8_t>({1});
  auto message = [&](const Inputs& given) { return error_of([&] { bind_sizes(g, given); }); };
  EXPECT_EQ(message({{"frame", one}}), "input weights is missing; give a tensor u8[H]");
  EXPECT_EQ(message({{"fram", one}}), "the graph has no input \"fram\"; did you mean \"frame\"?");
  EXPECT_EQ(message({{"x", one}}), "the graph has no input \"x\"; its inputs are: frame, weights");
  EXPECT_EQ(message({{"frame", one}, {"frame", one}}), "input frame is given twice");
}

TEST(BindSizes, shape_operands_are_read_from_integers) {
  Graph g;
  Value x = g.input("x", DType::f32, {H});
  g.input("to", DType::i32, {2});
  reshape(x, {Dim::operand("to", 0), Dim::operand("to", 1)});
  std::int32_t memory[] = {3, 9, 2, 9};
  Tensor strided(memory, DType::i32, {2}, {2});
  Inputs given = {{"x", zeros<float>({6})}, {"to", strided}};
  DimBindings bound = bind_sizes(g, given);
  EXPECT_EQ(bound, (DimBindings{{"H", 6}, {"operand(to, 0)", 3}, {"operand(to, 1)", 2}}));
  check_sizes(g, bound);
  memory[2] = 3;
  EXPECT_EQ(error_of([&] { check_sizes(g, bind_sizes(g, given)); }),
            "%2 = reshape: [6] has 6 elements, [3, 3] has 9");
  given[1].second = Tensor(memory, DType::i32, {2}, {2}, {DeviceKind::cuda, 0});
  EXPECT_THAT(error_of([&] { bind_sizes(g, given); }), HasSubstr("must be in host memory"));
}

TEST(BindSizes, a_shape_operand_out_of_reach_is_an_error) {
  Graph g;
  Value x = g.input("x", DType::f32, {H});
  g.input("to", DType::i64, {W});
  broadcast_to(reshape(x, {H, 1}), {H, Dim::operand("to", 5)});
  Inputs given = {{"x", zeros<float>({6})}, {"to", zeros<std::int64_t>({2})}};
  EXPECT_EQ(error_of([&] { bind_sizes(g, given); }),
            "input to: 2 elements received, element 5 is needed as a size");
}

TEST(BindSizes, a_symbol_only_in_expressions_is_an_error) {
  Graph g;
  g.input("x", DType::f32, {H * W});
  Inputs given = {{"x", zeros<float>({6})}};
  EXPECT_EQ(error_of([&] { bind_sizes(g, given); }),
            "input x, axis 0: H of the size H*W is given by no input");
}

std::string sizes_error(const Graph& g, const DimBindings& bindings) {
  return error_of([&] { check_sizes(g, bindings); });
}

TEST(CheckSizes, slices_stay_inside) {
  Graph g;
  Value x = g.input("x", DType::f32, {H});
  slice(x, {2}, {W}, {2});
  check_sizes(g, {{"H", 7}, {"W", 3}});
  check_sizes(g, {{"H", 0}, {"W", 0}});
  EXPECT_EQ(sizes_error(g, {{"H", 6}, {"W", 3}}),
            "%1 = slice: axis 0: 3 elements from 2 with step 2 leave the operand's 6");
  EXPECT_EQ(sizes_error(g, {{"H", 6}, {"W", -1}}), "%1 = slice: axis 0 would have size -1 (W)");
}

TEST(CheckSizes, backward_slices_stay_inside) {
  Graph g;
  Value x = g.input("x", DType::f32, {H});
  slice(x, {H - 1}, {H}, {-1});
  check_sizes(g, {{"H", 7}});
  slice(x, {H}, {H}, {-1});
  EXPECT_THAT(sizes_error(g, {{"H", 7}}), HasSubstr("%2 = slice"));
}

TEST(CheckSizes, nothing_is_taken_from_an_empty_axis) {
  Graph g;
  Value x = g.input("x", DType::f32, {H, 2});
  pad(x, {W, 0}, {0, 0}, "edge");
  check_sizes(g, {{"H", 0}, {"W", 0}});
  EXPECT_THAT(sizes_error(g, {{"H", 0}, {"W", 1}}), HasSubstr("= pad: axis 0 has no elements"));
  Graph picks;
  gather(picks.input("x", DType::f32, {H}), picks.input("i", DType::i64, {W}), 0);
  check_sizes(picks, {{"H", 0}, {"W", 0}});
  EXPECT_THAT(sizes_error(picks, {{"H", 0}, {"W", 1}}), HasSubstr("= gather: axis 0"));
  Graph resized;
  resize(resized.input("x", DType::f32, {H, W}), 2, 2);
  check_sizes(resized, {{"H", 1}, {"W", 1}});
  EXPECT_THAT(sizes_error(resized, {{"H", 0}, {"W", 1}}), HasSubstr("= resize"));
}

TEST(CheckSizes, chroma_is_half_as_large_rounded_up) {
  Graph g;
  Dim h = Dim::symbol("h"), w = Dim::symbol("w");
  nv12_to_rgb(g.input("y", DType::u8, {H, W}), g.input("uv", DType::u8, {h, w, 2}),
              YuvMatrix::bt601, YuvRange::limited);
  check_sizes(g, {{"H", 5}, {"W", 4}, {"h", 3}, {"w", 2}});
  EXPECT_EQ(sizes_error(g, {{"H", 5}, {"W", 4}, {"h", 2}, {"w", 2}}),
            "%2 = nv12_to_rgb: chroma [2, 2, 2] for luma [5, 4], [3, 2, 2] is needed");
}

TEST(CheckSizes, too_many_bytes_and_overflow_are_errors) {
  Graph g;
  broadcast_to(g.input("x", DType::f32, {1}), {H, H});
  check_sizes(g, {{"H", std::int64_t{1} << 30}});
  EXPECT_THAT(sizes_error(g, {{"H", std::int64_t{1} << 31}}), HasSubstr("more than 2^62 bytes"));
  Graph product;
  dim_value(product, H * H);
  EXPECT_THAT(sizes_error(product, {{"H", std::int64_t{1} << 32}}),
              HasSubstr("%0 = dim_value: size arithmetic overflows"));
  EXPECT_THAT(sizes_error(product, {}), HasSubstr("size H: no value is known"));
}

TEST(CheckSizes, shape_of_refuses_negative_sizes) {
  EXPECT_EQ(shape_of({H, 3}, {{"H", 2}}), (Shape{2, 3}));
  EXPECT_EQ(error_of([] { shape_of({H - 3}, {{"H", 2}}); }), "size H - 3 would be -1");
}

}  // namespace
}  // namespace fuseline
