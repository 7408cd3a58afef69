// Graph text: golden files, round trips, and malformed text.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>

#include "fuseline/ops.hpp"
#include "support.hpp"

namespace fuseline {
namespace {

using namespace testing;
using ::testing::EndsWith;
using ::testing::HasSubstr;

const Dim H = Dim::symbol("H"), W = Dim::symbol("W");

Graph mask_graph() {
  Graph g;
  Value mask = gray(g.input("frame", DType::u8, {H, W, 3})) > 127;
  g.output("mask", where(mask, 255, cast(mask, DType::u8)));
  g.output("area", count(mask));
  return g;
}

Graph index_graph() {
  Graph g;
  Value x = g.input("x", DType::f32, {H, W});
  g.input("to", DType::i64, {2});
  Dim rows = Dim::operand("to", 0), columns = Dim::operand("to", 1);
  Value part = slice(x, {H - 1, 0}, {ceil_div(H, 2), W}, {-2, 1});
  Value padded = pad(part, {1, floor_div(W, 2)}, {0, 0}, "reflect");
  g.output("t", transpose(padded, {1, 0}));
  g.output("r", reshape(resize(x, rows, columns), {rows * columns}));
  g.output("g", gather(x, iota(g, {max(H, 4)}, 0, DType::i32), 0));
  g.output("n", dim_value(g, min(H, W) * 2 - 1));
  g.output("best", arg_max(concat({x, broadcast_to(pick(x, 0, 0), {2, W})}, 0), 1, true));
  return g;
}

Graph constants_graph() {
  Graph g;
  auto f = std::numeric_limits<float>();
  g.output("floats",
           g.constant(tensor<float>({2, 4}, {0.1f, -0.0f, 1e-45f, f.max(), f.infinity(),
                                             -f.infinity(), f.quiet_NaN(), -f.quiet_NaN()})));
  g.output("halves", g.constant(DType::f16, 1.0 / 3));
  g.output("none", g.constant(zeros<double>({3, 0})));
  g.output("flags", g.constant(tensor<bool>({2}, {true, false})));
  g.output("large", g.constant(tensor<std::uint64_t>({2}, {~std::uint64_t{0}, 0})));
  g.output("small",
           g.constant(tensor<std::int64_t>({1}, {std::numeric_limits<std::int64_t>::min()})));
  return g;
}

void compare_with_golden(const Graph& graph, const std::string& name) {
  std::string path = FUSELINE_SOURCE_DIR "/tests/graph/golden/" + name + ".txt";
  if (std::getenv("FUSELINE_TEST_WRITE")) std::ofstream(path) << graph.to_text();
  std::ifstream in(path);
  std::string golden{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(graph.to_text(), golden)
      << path << " differs; if that is meant, run again with FUSELINE_TEST_WRITE=1";
  EXPECT_EQ(Graph::from_text(golden).to_text(), golden);
}

TEST(Text, golden_files_round_trip) {
  compare_with_golden(mask_graph(), "mask");
  compare_with_golden(index_graph(), "index_maps");
  compare_with_golden(constants_graph(), "constants");
}

TEST(Text, constants_keep_every_bit) {
  Graph g = constants_graph(), back = Graph::from_text(g.to_text());
  auto before = evaluate(g, {}), after = evaluate(back, {});
  for (std::size_t i = 0; i < before.size(); ++i) {
    ASSERT_EQ(before[i].bytes(), after[i].bytes());
    std::string_view old(before[i].as<char>(), static_cast<std::size_t>(before[i].bytes()));
    EXPECT_EQ(old, std::string_view(after[i].as<char>(), old.size())) << i;
  }
}

TEST(Text, large_constants_become_inputs) {
  Graph g;
  Value x = g.input("const_1", DType::f32, {17});
  std::vector<float> numbers(17, 1.5f);
  g.output("y", x + g.constant(tensor<float>({17}, numbers)));
  std::vector<std::pair<std::string, Tensor>> large;
  std::string text = g.to_text(&large);
  ASSERT_EQ(large.size(), 1u);
  EXPECT_EQ(large[0].first, "const_1_");
  EXPECT_EQ(text, g.to_text());
  Graph back = Graph::from_text(text);
  auto out = evaluate(back, {{"const_1", zeros<float>({17})}, large[0]});
  EXPECT_EQ(elements<float>(out[0]), numbers);
}

TEST(Text, hand_written_text_is_read) {
  Graph g = Graph::from_text(
      "fuseline-graph 1\r\n\n# a comment\n%7 = input  x :f32[ H ]\n"
      "%9=constant 0.1 : f32[]\n  %8 = mul %7 %9 : f32[H]\n%1 = cast %8 "
      "{rounding=\"tr\\x75nc\",to=u8} : u8[H]\noutput y %1");
  EXPECT_EQ(g.to_text(),
            "fuseline-graph 1\n%0 = input x : f32[H]\n%1 = constant 0x1.99999ap-4 : f32[]\n"
            "%2 = mul %0 %1 : f32[H]\n%3 = cast %2 {rounding=\"trunc\", to=u8} : u8[H]\n"
            "output y %3\n");
}

struct Malformed {
  const char* body;     // after the first line
  const char* message;  // part of it
};
const Malformed malformed[] = {
    {"%0 = input x : f32[H", "line 2: ']' is missing"},
    {"%0 = input x f32[H]", "line 2: ':' expected before \"f32[H]\""},
    {"%0 = input x : f33[H]", "line 2: \"f33\" is no element type"},
    {"%0 = input x : f32[H] more", "line 2: unexpected text before \"more\""},
    {"%0 = input x : f32[-1]", "negative size -1"},
    {"%0 = input x : f32[H,]", "an entry is empty before ']'"},
    {"%0 = input x : f32[H W]", "line 2: size \"H W\""},
    {"%0 = input a\"b : f32[]", "letters, digits"},
    {"%0 = input x : f32[]\n%0 = neg %0 : f32[]", "line 3: %0 is made twice"},
    {"%0 = input x : f32[]\n%1 = input x : f32[]", "line 3: name \"x\""},
    {"%0 = neg %1 : f32[]", "line 2: %1 is not made by a line above"},
    {"%0 = input x : f32[]\n%1 = neg %0", "line 3: ':' expected at the end"},
    {"%0 = input x : f32[]\n%1 = neg %0 : f64[]", "type f64[] written, neg makes f32[]"},
    {"%0 = input x : f32[]\n%1 = neg %0 %0 : f32[]", "neg: 2 operands given, it takes 1"},
    {"%0 = input x : f32[]\n%1 = fly %0 : f32[]", "line 3: unknown operation \"fly\""},
    {"%0 = input x : f32[]\n%1 = neg %0 {a=1} : f32[]", "%1 = neg: unknown attribute a"},
    {"%0 = input x : f32[]\n%1 = neg %0 {a=1, a=2} : f32[]", "attribute a is given twice"},
    {"%0 = input x : f32[]\n%1 = neg %0 {=1} : f32[]", "an attribute name is expected"},
    {"%0 = input x : f32[]\n%1 = neg %0 {a=?} : f32[]", "\"?\" is no attribute value"},
    {"%0 = input x : f32[]\n%1 = neg %0 {a=\"b} : f32[]", "a quoted text does not end"},
    {"%0 = input x : f32[]\n%1 = neg %0 {a=\"\\q\"} : f32[]", "unknown escape"},
    {"%0 = input x : f32[]\n%1 = neg %0 {a=[1, x]} : f32[]", "\"x\" in a list is no integer"},
    {"%0 = input x : f32[]\n%1 = cast %0 {rounding=\"trunc\"} : u8[]", "attribute to is missing"},
    {"%0 = input x : f32[]\n%1 = cast %0 {to=3, rounding=\"trunc\"} : u8[]",
     "attribute to: an element type"},
    {"%0 = input x : f32[3]\n%1 = transpose %0 {perm=[1]} : f32[3]", "perm must name each"},
    {"%0 = input x : f32[]\noutput y 0", "a value \"%N\" is expected before \"0\""},
    {"%0 = input x : f32[]\noutput x %0", "line 3: name \"x\""},
    {"%0 = input x : f32[]\nresult y %0", "line 3: a node"},
    {"%x = input x : f32[]", "\"%x\" is no value"},
    {"%0 = constant 1 2 : u8[3]", "2 elements written, u8[3] has 3"},
    {"%0 = constant 1 : u8[H]", "a constant of size H"},
    {"%0 = constant 1 : u8[-1]", "negative"},
    {"%0 = constant 1 : u8[4611686018427387904, 4]", "more than 2^62 elements"},
    {"%0 = constant 1 : f32[1000000000000]", "1 elements written"},
    {"%0 = constant 256 : u8[]", "\"256\" is no u8"},
    {"%0 = constant 1e39 : f32[]", "\"1e39\" is no f32"},
    {"%0 = constant nan:3f800000 : f32[]", "is no f32"},
    {"%0 = constant 0x : f32[]", "\"0x\" is no f32"},
    {"%0 = constant 1", "line 2: \":\" and a type"},
    {"%0 = dim_value {dim=(H)} : i64[]", "%0 = dim_value: size H, but no input gives H"},
    {"%0 = dim_value {dim=(operand(x, 0))} : i64[]", "no input gives operand(x, 0)"},
    {"%0 = dim_value {dim=(1, 2)} : i64[]", "exactly one size"},
};

TEST(Text, malformed_lines_are_errors_with_a_place) {
  for (const Malformed& m : malformed)
    EXPECT_THAT(
        error_of([&] { Graph::from_text(std::string("fuseline-graph 1\n") + m.body + "\n"); }),
        HasSubstr(m.message))
        << m.body;
}

TEST(Text, other_files_and_newer_versions_are_refused) {
  auto message = [](std::string_view text) { return error_of([&] { Graph::from_text(text); }); };
  EXPECT_THAT(message(""), HasSubstr("this is no graph text"));
  EXPECT_THAT(message("\x89PNG\r\n"), HasSubstr("this is no graph text"));
  EXPECT_THAT(message("fuseline-graph x\n"), HasSubstr("no version"));
  EXPECT_EQ(
      message("fuseline-graph 2\n"),
      "graph text, line 1: version 2, but this Fuseline reads versions up to 1; use a newer one");
}

TEST(Text, every_cut_and_every_changed_byte_ends_in_a_graph_or_an_error) {
  for (const Graph& g : {mask_graph(), index_graph(), constants_graph()}) {
    std::string text = g.to_text();
    auto survives = [](const std::string& t) {
      try {
        Graph::from_text(t);
      } catch (const Error&) {
      }
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
      survives(text.substr(0, i));
      for (char c : {'(', ',', '9', '-', '%', '\n', '\0', '"'}) {
        std::string changed = text;
        changed[i] = c;
        survives(changed);
      }
    }
  }
}

}  // namespace
}  // namespace fuseline
