// Inputs whose elements are sizes: one graph, and one Program, for all their values.
#include <gmock/gmock.h>

#include "fuseline/onnx.hpp"
#include "fuseline/program.hpp"
#include "graph/support.hpp"
#include "model_bytes.hpp"

namespace fuseline {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Integers = std::vector<std::int64_t>;

// Models of one operator: x, then lists of integers.
class Operands : public ::testing::Test {
 protected:
  struct List {
    std::string name;
    std::int64_t size;
  };
  static Graph graph(const std::string& op, const Shape& x, const std::vector<List>& lists,
                     std::size_t rank, const std::vector<Message>& attributes = {}) {
    Parts p;
    std::vector<std::string> operands = {"x"};
    p.inputs = {value_info("x", float_type, x)};
    for (const List& list : lists) {
      operands.push_back(list.name);
      p.inputs.push_back(value_info(list.name, integer_type, {list.size}));
    }
    std::vector<std::string> results = {"y"};
    if (op == "TopK") results.push_back("places");
    p.outputs = {value_info("y", float_type, Shape(rank, -1))};
    p.nodes = {node(op, operands, results, attributes)};
    std::vector<std::string> decided;
    Graph made = OnnxModel::from_bytes(p.model()).graph({}, &decided);
    EXPECT_TRUE(decided.empty());
    return made;
  }

  // The result's shape and first elements, evaluated and compiled.
  static std::pair<Shape, std::vector<float>> answer(const Graph& graph, const Program& program,
                                                     const Inputs& inputs) {
    Tensor expected = evaluate(graph, inputs)[0], actual = program.run(inputs)[0];
    EXPECT_EQ(actual.shape(), expected.shape());
    EXPECT_EQ(elements<float>(actual), elements<float>(expected));
    return {actual.shape(), elements<float>(actual)};
  }

  static Tensor list(const Integers& values) {
    return tensor<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
  }
  static Tensor counted(const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    return tensor<float>(shape, values);
  }
  static Program on_cpu(const Graph& graph) { return compile(graph, {.device = "cpu"}); }
};

TEST_F(Operands, reshape_takes_sizes_zeros_and_minus_one) {
  Graph g = graph("Reshape", {2, 3, 4}, {{"to", 3}}, 3);
  Program program = on_cpu(g);
  Tensor x = counted({2, 3, 4});
  EXPECT_EQ(answer(g, program, {{"x", x}, {"to", list({4, 3, 2})}}).first, (Shape{4, 3, 2}));
  EXPECT_EQ(answer(g, program, {{"x", x}, {"to", list({0, -1, 2})}}).first, (Shape{2, 6, 2}));
  EXPECT_EQ(answer(g, program, {{"x", x}, {"to", list({-1, 1, 0})}}).first, (Shape{6, 1, 4}));
  EXPECT_THAT(error_of([&] { program.run({{"x", x}, {"to", list({5, 1, 1})}}); }), HasSubstr("24"));
}

TEST_F(Operands, slice_takes_places_from_both_ends) {
  Graph g = graph("Slice", {6}, {{"from", 1}, {"until", 1}}, 1);
  Program program = on_cpu(g);
  Tensor x = counted({6});
  auto cut = [&](std::int64_t from, std::int64_t until) {
    return answer(g, program, {{"x", x}, {"from", list({from})}, {"until", list({until})}}).second;
  };
  EXPECT_THAT(cut(1, 4), ElementsAre(1, 2, 3));
  EXPECT_THAT(cut(-2, 100), ElementsAre(4, 5));
  EXPECT_THAT(cut(0, -4), ElementsAre(0, 1));
  EXPECT_THAT(cut(5, 2), ElementsAre());
  EXPECT_THAT(cut(-100, 1), ElementsAre(0));
}

TEST_F(Operands, pad_tile_and_expand) {
  Tensor x = counted({2});
  Graph pad = graph("Pad", {2}, {{"pads", 2}}, 1);
  Program padded = on_cpu(pad);
  EXPECT_THAT(answer(pad, padded, {{"x", x}, {"pads", list({1, 2})}}).second,
              ElementsAre(0, 0, 1, 0, 0));
  EXPECT_THAT(answer(pad, padded, {{"x", x}, {"pads", list({-1, 1})}}).second, ElementsAre(1, 0));
  Graph tile = graph("Tile", {2}, {{"repeats", 1}}, 1);
  Program tiled = on_cpu(tile);
  EXPECT_THAT(answer(tile, tiled, {{"x", x}, {"repeats", list({2})}}).second,
              ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(answer(tile, tiled, {{"x", x}, {"repeats", list({1})}}).second, ElementsAre(0, 1));
  std::vector<std::string> decided;
  Parts p;
  p.inputs = {value_info("x", float_type, {1}), value_info("to", integer_type, {1})};
  p.outputs = {value_info("y", float_type, {-1})};
  p.nodes = {node("Expand", {"x", "to"}, {"y"})};
  Graph one = OnnxModel::from_bytes(p.model()).graph({}, &decided);
  EXPECT_TRUE(decided.empty());
  EXPECT_THAT(answer(one, on_cpu(one), {{"x", counted({1})}, {"to", list({3})}}).second,
              ElementsAre(0, 0, 0));
}

TEST_F(Operands, top_k_takes_a_count_and_refuses_too_many) {
  Graph g = graph("TopK", {4}, {{"k", 1}}, 1);
  Program program = on_cpu(g);
  Tensor x = tensor<float>({4}, {3, 9, 1, 7});
  EXPECT_THAT(answer(g, program, {{"x", x}, {"k", list({2})}}).second, ElementsAre(9, 7));
  EXPECT_THAT(answer(g, program, {{"x", x}, {"k", list({3})}}).second, ElementsAre(9, 7, 3));
  EXPECT_THAT(error_of([&] { program.run({{"x", x}, {"k", list({5})}}); }), HasSubstr("size -1"));
}

// Sizes are read on the host; the error names the input.
TEST_F(Operands, wrong_lists_are_named) {
  Graph g = graph("Tile", {2}, {{"repeats", 1}}, 1);
  Program program = on_cpu(g);
  EXPECT_THAT(error_of([&] {
                program.run({{"x", counted({2})}, {"repeats", list({-3})}});
              }),
              HasSubstr("would have size"));
}

}  // namespace
}  // namespace fuseline
