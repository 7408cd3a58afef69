// Reading models: sizes, defaults, functions, branches.
#include <gmock/gmock.h>

#include "fuseline/onnx.hpp"
#include "fuseline/program.hpp"
#include "graph/support.hpp"
#include "model_bytes.hpp"

namespace fuseline {
namespace {

using namespace testing;

std::vector<float> answer(const Graph& graph, const Inputs& inputs) {
  return elements<float>(evaluate(graph, inputs)[0]);
}

// [n, 4] -> Shape -> Gather -> Concat with -1 -> Reshape: one graph for every n.
TEST(ReadModel, shape_arithmetic_stays_symbolic) {
  Parts p;
  p.inputs = {value_info("x", float_type, {-1, 4})};
  p.outputs = {value_info("y", float_type, {-1, -1})};
  p.initializers = {integers("first", {0}), integers("rest", {-1})};
  p.nodes = {node("Shape", {"x"}, {"shape"}), node("Gather", {"shape", "first"}, {"n"}),
             node("Concat", {"n", "rest"}, {"to"}, {attribute("axis", std::int64_t{0})}),
             node("Reshape", {"x", "to"}, {"y"})};
  Graph graph = OnnxModel::from_bytes(p.model()).graph();
  const ValueType& type = graph.type(graph.outputs()[0].value);
  EXPECT_EQ(to_string(type.dims), "[n, 4]");
  for (std::int64_t n : {1, 3}) {
    std::vector<float> x(static_cast<std::size_t>(4 * n), 2);
    EXPECT_EQ(answer(graph, {{"x", tensor<float>({n, 4}, x)}}), x);
  }
}

TEST(ReadModel, operands_that_decide_shapes_are_named_or_used) {
  Parts p;
  p.inputs = {value_info("x", float_type, {2, 3}), value_info("axes", integer_type, {1})};
  p.outputs = {value_info("y", float_type, {2})};
  p.nodes = {node("ReduceSum", {"x", "axes"}, {"y"}, {attribute("keepdims", std::int64_t{0})})};
  OnnxModel model = OnnxModel::from_bytes(p.model());
  EXPECT_EQ(error_of([&] { model.graph(); }),
            "the_ReduceSum (ReduceSum): input axes decides shapes, so its value is needed when the "
            "model is read");
  Tensor axes = tensor<std::int64_t>({1}, {1});
  std::vector<std::string> decided;
  Graph graph = model.graph({{"axes", axes}}, &decided);
  EXPECT_THAT(decided, ::testing::ElementsAre("axes"));
  Tensor x = tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(answer(graph, {{"x", x}, {"axes", axes}}), (std::vector<float>{6, 15}));
}

TEST(ReadModel, initializers_of_inputs_are_defaults) {
  Parts p;
  p.inputs = {value_info("x", float_type, {2}), value_info("w", float_type, {2})};
  p.outputs = {value_info("y", float_type, {2})};
  p.initializers = {floats("w", {10, 20})};
  p.nodes = {node("Add", {"x", "w"}, {"y"})};
  OnnxModel model = OnnxModel::from_bytes(p.model());
  Graph graph = model.graph();
  Tensor x = tensor<float>({2}, {1, 2});
  auto defaults = model.defaults();
  ASSERT_EQ(defaults.size(), 1u);
  EXPECT_EQ(answer(graph, {{"x", x}, defaults[0]}), (std::vector<float>{11, 22}));
  EXPECT_EQ(answer(graph, {{"x", x}, {"w", tensor<float>({2}, {5, 6})}}),
            (std::vector<float>{6, 8}));
}

// f(a) = a + a, with the attribute of the caller inside.
TEST(ReadModel, functions_are_inlined) {
  Message function;
  function.bytes(1, "twice").bytes(4, "a").bytes(5, "b").bytes(6, "alpha");
  Message reference = Message().bytes(1, "alpha").integer(20, 1).bytes(21, "alpha");
  function.message(7, node("Add", {"a", "a"}, {"c"}));
  function.message(7, node("LeakyRelu", {"c"}, {"b"}, {reference}));
  function.message(9, Message().bytes(1, "").integer(2, 17)).bytes(10, "own");
  Parts p;
  p.inputs = {value_info("x", float_type, {2})};
  p.outputs = {value_info("y", float_type, {2})};
  p.functions = {function};
  Message alpha = Message().bytes(1, "alpha").real(2, 0.5f).integer(20, 1);
  p.nodes = {node("twice", {"x"}, {"y"}, {alpha}, "own")};
  Graph graph = OnnxModel::from_bytes(p.model()).graph();
  EXPECT_EQ(answer(graph, {{"x", tensor<float>({2}, {-1, 3})}}), (std::vector<float>{-1, 6}));
}

TEST(ReadModel, names_that_a_graph_does_not_take_are_changed) {
  Parts p;
  p.inputs = {value_info("in put", float_type, {1})};
  p.outputs = {value_info("out\"put", float_type, {1})};
  p.nodes = {node("Relu", {"in put"}, {"out\"put"})};
  OnnxModel model = OnnxModel::from_bytes(p.model());
  EXPECT_EQ(model.inputs()[0].graph_name, "in_put");
  EXPECT_EQ(model.outputs()[0].second, "out_put");
  EXPECT_EQ(model.graph().outputs()[0].name, "out_put");
}

}  // namespace
}  // namespace fuseline
