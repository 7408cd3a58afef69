// docs/operations.md is what the op table says.
#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "graph/op_table.hpp"
#include "support.hpp"

namespace fuseline {
namespace {

using namespace testing;

const char* head = R"(# Operations

Generated from `include/fuseline/ops.def`; `FUSELINE_TEST_WRITE=1 build/PRESET/tests/test_graph
--gtest_filter='OperationsDoc*'` writes it again.

A graph's values are tensors. Each operation makes one value; C++ functions of the same names build
them (`fuseline/ops.hpp`), and [graph texts](graph-text.md) name them. The column *since* is the
version of the graph text that brought the operation; a released operation's name and meaning never
change.

Floats are computed as if in double and rounded once to the element type at every value; compiled
code computes f16, bf16 and f32 in f32. Integers wrap unless a row says otherwise. Operations marked
with ONNX names follow ONNX's definition of that operator.
)";

const char* elementwise_head = R"(
## Elementwise

Operands a, b, c broadcast against each other: sizes are equal, or one is the constant 1. Element
types: *number* all alike, not bool; *real* all alike, floating; *integer* all alike, integers;
*logic* all alike, bool or integers; *compare* all alike, any type, the result is bool; *classify*
floating, the result is bool; *choose* a is bool, b and c are alike.

| operation | types | formula | meaning | ONNX | since |
|---|---|---|---|---|---|
)";

const char* plain_head = R"(
| operation | operands | meaning | ONNX | since |
|---|---|---|---|---|
)";

const char* kernel_head = R"(
## Order, prefixes, placing

Each is a kernel of its own, or several; operands and results are stored.

| operation | operands | meaning | ONNX | since |
|---|---|---|---|---|
)";

const char* name_of(TypeRule rule) {
  switch (rule) {
    case TypeRule::number:
      return "number";
    case TypeRule::any:
      return "any";
    case TypeRule::real:
      return "real";
    case TypeRule::integer:
      return "integer";
    case TypeRule::logic:
      return "logic";
    case TypeRule::compare:
      return "compare";
    case TypeRule::classify:
      return "classify";
    case TypeRule::choose:
      return "choose";
  }
  return "?";
}

// Bars would end the cell of a table.
std::string cell(std::string_view text) {
  std::string result;
  for (char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

std::string operands(const OpInfo& op) {
  if (op.least_operands == op.most_operands) return std::to_string(op.least_operands);
  return fmt::format("{} to {}", op.least_operands, op.most_operands);
}

std::string operations_doc() {
  std::string elementwise = elementwise_head;
  std::string structural = std::string("\n## Leaves, types, index maps and pixels\n") + plain_head;
  std::string reductions =
      std::string("\n## Reductions\n\nAttributes: axes (none: all of them), keepdims.\n") +
      plain_head;
  std::string kernels = kernel_head;
  for (const OpInfo& op : op_table()) {
    std::string tail = fmt::format("{} | {} | {} |\n", cell(op.doc), op.onnx, op.since);
    if (op.group == OpGroup::elementwise)
      elementwise +=
          fmt::format("| {} | {} | `{}` | {}", op.name, name_of(op.rule), cell(op.formula), tail);
    else
      (op.group == OpGroup::structural  ? structural
       : op.group == OpGroup::reduction ? reductions
                                        : kernels) +=
          fmt::format("| {} | {} | {}", op.name, operands(op), tail);
  }
  return head + elementwise + structural + reductions + kernels;
}

TEST(OperationsDoc, is_the_table) {
  std::string path = FUSELINE_SOURCE_DIR "/docs/operations.md";
  if (std::getenv("FUSELINE_TEST_WRITE")) std::ofstream(path) << operations_doc();
  std::ifstream in(path);
  std::string written{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(written, operations_doc())
      << "docs/operations.md differs from the table; run again with FUSELINE_TEST_WRITE=1";
}

TEST(OperationsDoc, every_operation_is_explained) {
  for (const OpInfo& op : op_table()) {
    EXPECT_GE(op.doc.size(), 5u) << op.name;
    EXPECT_EQ(op.doc.back(), '.') << op.name;
    EXPECT_GE(op.since, 1) << op.name;
  }
}

}  // namespace
}  // namespace fuseline
