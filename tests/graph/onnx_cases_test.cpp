// The ONNX project's own single-node cases through evaluate.
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

#include "graph/evaluate.hpp"
#include "graph/op_table.hpp"
#include "python.hpp"
#include "support.hpp"

namespace fuseline {
namespace {

using namespace testing;

// Takes dense tensors off the front of a file's bytes.
class Bytes {
 public:
  explicit Bytes(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}
  Tensor take(const ValueType& type) {
    Shape shape = shape_of(type.dims, {});
    Tensor tensor = Tensor::allocate(type.dtype, shape);
    auto size = static_cast<std::size_t>(tensor.bytes());
    if (size > bytes_.size() - at_) {
      ADD_FAILURE() << "the file of the case is too short";
      return zeros<std::uint8_t>({});
    }
    if (size > 0) std::memcpy(tensor.data(), bytes_.data() + at_, size);
    at_ += size;
    return tensor;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

// The cases' own numbers are rounded step by step, so some ULP are allowed beside the interval.
bool is_near(Number actual, const Bounded& expected, DType dtype) {
  if (is_allowed(actual, expected, dtype)) return true;
  if (!is_float(dtype)) return false;
  double tolerance =
      std::max(4 * ulp_at(expected.value.d, dtype), 2e-6 * std::fabs(expected.value.d));
  return std::fabs(actual.d - expected.value.d) <= tolerance + 1e-7;
}

std::string difference(const Tensor& theirs, const Evaluated& ours) {
  const Tensor& value = ours.value;
  if (value.dtype() != theirs.dtype() || value.shape() != theirs.shape()) return "other type";
  for (std::int64_t i = 0; i < theirs.size(); ++i) {
    auto offset = i * static_cast<std::int64_t>(size_of(value.dtype()));
    Number expected = load_number(theirs.as<const char>() + offset, value.dtype());
    Bounded got = ours.at(i);
    if (is_near(expected, got, value.dtype())) continue;
    std::ostringstream text;
    text << "element " << i << ": ";
    if (is_float(value.dtype()))
      text << got.value.d << " instead of " << expected.d;
    else
      text << got.value.i << " instead of " << expected.i;
    return text.str();
  }
  return {};
}

// Operations that no case of the project has, or that tests/conformance alone builds; other tests
// of this room have them. May only shrink.
const std::set<std::string_view> without_case = {
    "atan2",   "bit_cast",     "conv",        "conv_transpose", "dim_value",
    "expm1",   "gray",         "iota",        "late_size",      "log1p",
    "matmul",  "not_equal",    "nv12_to_rgb", "rgb_to_hsv",     "scan",
    "scatter", "sort_indices", "suppress",    "trunc",          "window"};

class OnnxCases : public PythonTest {
 protected:
  // One case; what differs, or nothing.
  std::string check(const std::string& name, std::string_view text) {
    try {
      Graph graph = Graph::from_text(text);
      for (const Node& node : graph.nodes()) used_.insert(name_of(node.op));
      Bytes data(bytes(name + ".bin"));
      Inputs inputs;
      for (const NamedValue& input : graph.inputs())
        inputs.emplace_back(input.name, data.take(graph.type(input.value)));
      ValueId out = graph.outputs()[0].value;
      Tensor expected = data.take(graph.type(out));
      EXPECT_TRUE(data.at_end()) << name;
      return difference(expected, evaluate_bounded(graph, inputs)[out]);
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  std::set<std::string_view> used_;
};

TEST_F(OnnxCases, single_nodes_give_the_projects_answers) {
  run("make_onnx_cases.py");
  std::ifstream list(folder_ / "cases.txt");
  std::map<std::string, int> by_operator;
  int total = 0;
  for (std::string name, op; list >> name >> op; ++total) {
    ++by_operator[op];
    std::vector<std::uint8_t> file = bytes(name + ".txt");
    std::string text(file.begin(), file.end());
    EXPECT_EQ(check(name, text), "") << name << "\n" << text;
  }
  RecordProperty("cases", total);
  std::printf("%d cases of %zu operators\n", total, by_operator.size());
  EXPECT_GE(total, 455);
  EXPECT_GE(by_operator.size(), 86u);
  for (const OpInfo& op : op_table())
    EXPECT_EQ(used_.contains(op.name), !without_case.contains(op.name)) << op.name;
}

}  // namespace
}  // namespace fuseline
