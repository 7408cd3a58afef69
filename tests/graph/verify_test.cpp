// verify: broken graphs are named; the builder cannot make most of them, so nodes are changed here.
#include <gmock/gmock.h>

#include "fuseline/ops.hpp"
#include "support.hpp"

namespace fuseline {
namespace {

using namespace testing;
using ::testing::HasSubstr;

struct Broken {
  Graph g;
  Broken() {
    Value x = g.input("x", DType::f32, {Dim::symbol("H"), 3});
    g.output("y", reduce_sum(x * 2, {1}));
    verify(g);
  }
  Node& node(std::size_t i) { return const_cast<Node&>(g.nodes()[i]); }
  std::string message() const {
    return error_of([&] { verify(g); });
  }
};

TEST(Verify, operands_come_first) {
  Broken b;
  b.node(2).inputs[0] = 3;
  EXPECT_EQ(b.message(), "%2 = mul: operand %3 is not made by an earlier node");
  b.node(2).inputs[0] = 99;
  EXPECT_THAT(b.message(), HasSubstr("operand %99"));
}

TEST(Verify, values_are_made_once) {
  Broken b;
  b.node(2).output = 1;
  EXPECT_THAT(b.message(), HasSubstr("made twice"));
}

TEST(Verify, types_are_inferred_again) {
  Broken b;
  b.node(3).attributes.set("keepdims", std::int64_t{1});
  EXPECT_EQ(b.message(), "%3 = reduce_sum: its type is f32[H], the operation makes f32[H, 1]");
  b.node(3).attributes.set("axes", std::vector<std::int64_t>{7});
  EXPECT_THAT(b.message(), HasSubstr("%3 = reduce_sum: reduction: axis 7"));
}

TEST(Verify, operand_counts_and_attributes_are_those_of_the_table) {
  Broken b;
  b.node(2).inputs.push_back(0);
  EXPECT_EQ(b.message(), "%2 = mul: 3 operands, it takes 2 to 2");
  Broken c;
  c.node(3).attributes.set("keepdim", std::int64_t{1});
  EXPECT_EQ(c.message(), "%3 = reduce_sum: unknown attribute keepdim; it takes axes, keepdims");
}

TEST(Verify, names_fit_their_nodes) {
  Broken b;
  b.node(0).attributes.set("name", std::string("z"));
  EXPECT_THAT(b.message(), HasSubstr("input z is not at its place"));
  Broken c;
  const_cast<NamedValue&>(c.g.outputs()[0]).value = 17;
  EXPECT_EQ(c.message(), "output y: value %17 does not exist");
  Broken d;
  const_cast<NamedValue&>(d.g.outputs()[0]).name = "x";
  EXPECT_THAT(d.message(), HasSubstr("name x: two"));
}

TEST(Verify, sizes_come_from_inputs) {
  Graph g;
  Value x = g.input("x", DType::f32, {Dim::symbol("H")});
  broadcast_to(x, {Dim::symbol("K") + 1, Dim::symbol("H")});
  EXPECT_EQ(error_of([&] { verify(g); }), "%1 = broadcast_to: size K + 1, but no input gives K");
  g.input("k", DType::u8, {Dim::symbol("K")});
  verify(g);
}

}  // namespace
}  // namespace fuseline
