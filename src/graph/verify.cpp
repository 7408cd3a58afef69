// verify: a graph's rules, checked from scratch.
#include "graph/verify.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "base/fail.hpp"
#include "graph/node_label.hpp"
#include "graph/op_table.hpp"

namespace fuseline {
namespace {

std::vector<std::string_view> attribute_names(OpCode op) {
  if (info(op).group == OpGroup::elementwise) return {};
  if (info(op).group == OpGroup::reduction && !info(op).space) return {"axes", "keepdims"};
  switch (op) {
    case OpCode::input:
      return {"name", "dtype", "dims"};
    case OpCode::constant:
      return {"value"};
    case OpCode::dim_value:
      return {"dim"};
    case OpCode::iota:
      return {"dims", "axis", "to"};
    case OpCode::cast:
      return {"to", "rounding", "saturate"};
    case OpCode::reshape:
    case OpCode::broadcast_to:
      return {"dims"};
    case OpCode::transpose:
      return {"perm"};
    case OpCode::slice:
      return {"starts", "dims", "steps"};
    case OpCode::concat:
    case OpCode::gather:
      return {"axis"};
    case OpCode::pad:
      return {"before", "after", "mode"};
    case OpCode::window:
      return {"kernel", "strides", "dilations", "before", "dims", "trail"};
    case OpCode::matmul:
      return {};
    case OpCode::conv:
    case OpCode::conv_transpose:
      return {"strides", "dilations", "before", "dims", "groups", "x_block", "y_block"};
    case OpCode::gray:
      return {"mode"};
    case OpCode::rgb_to_hsv:
      return {};
    case OpCode::nv12_to_rgb:
      return {"matrix", "range"};
    case OpCode::resize:
      return {"dims", "mode", "coordinates", "nearest"};
    default:
      fail_internal("an operation whose attributes are not listed");
  }
}

// One pass over the nodes, then over the names.
class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  void run() {
    for (const NamedValue& input : graph_.inputs()) check_exists(input, "input");
    for (const NamedValue& output : graph_.outputs()) check_exists(output, "output");
    std::vector<bool> known(graph_.value_count());
    for (const Node& node : graph_.nodes()) {
      if (node.output >= known.size() || known[node.output])
        fail("{}: its value is made twice or does not exist", node_label(node));
      for (ValueId input : node.inputs)
        if (input >= known.size() || !known[input])
          fail("{}: operand %{} is not made by an earlier node", node_label(node), input);
      known[node.output] = true;
      check_node(node);
    }
    check_names();
    collect_given_sizes();
    for (const Node& node : graph_.nodes()) check_size_names(node);
  }

 private:
  void check_exists(const NamedValue& named, const char* what) const {
    if (named.value >= graph_.value_count())
      fail("{} {}: value %{} does not exist", what, named.name, named.value);
  }

  void check_node(const Node& node) const {
    const OpInfo& row = info(node.op);
    auto given = static_cast<int>(node.inputs.size());
    if (given < row.least_operands || given > row.most_operands)
      fail("{}: {} operands, it takes {} to {}", node_label(node), given, row.least_operands,
           row.most_operands);
    check_attribute_names(node);
    std::vector<ValueType> operands;
    for (ValueId input : node.inputs) operands.push_back(graph_.type(input));
    ValueType inferred = infer(node, row, operands);
    const ValueType& written = graph_.type(node.output);
    if (inferred.dtype != written.dtype || inferred.dims != written.dims)
      fail("{}: its type is {}, the operation makes {}", node_label(node), type_text(written),
           type_text(inferred));
  }

  static ValueType infer(const Node& node, const OpInfo& row, std::span<const ValueType> operands) {
    try {
      return row.infer({row.name, operands, node.attributes});
    } catch (const Error& error) {
      fail("{}: {}", node_label(node), error.what());
    }
  }

  void check_names() const {
    std::set<std::string_view> names;
    for (const auto* list : {&graph_.inputs(), &graph_.outputs()})
      for (const NamedValue& named : *list)
        if (!names.insert(named.name).second)
          fail("name {}: two inputs or outputs have it", named.name);
    std::size_t next = 0;
    for (const Node& node : graph_.nodes()) {
      if (node.op != OpCode::input) continue;
      const std::string& name = node.attributes.text("name");
      bool listed = next < graph_.inputs().size() && graph_.inputs()[next].value == node.output &&
                    graph_.inputs()[next].name == name;
      if (!listed)
        fail("{}: input {} is not at its place among the inputs", node_label(node), name);
      ++next;
    }
    if (next != graph_.inputs().size()) fail("input {} has no node", graph_.inputs()[next].name);
  }

  void collect_given_sizes() {
    for (const NamedValue& input : graph_.inputs()) {
      const ValueType& type = graph_.type(input.value);
      for (const Dim& dim : type.dims)
        if (dim.is_symbol()) given_.insert(dim.symbol_name());
      if (is_integer(type.dtype) && type.dims.size() <= 1)
        given_.insert("operand(" + input.name + ",");  // any element
    }
  }

  // A name of Dim::names() that neither a shape nor a list of integers gives.
  bool is_given(const std::string& name) const {
    if (name.starts_with("late(")) return true;
    return given_.contains(name.substr(0, name.find(' ')));
  }

  void check_size_names(const Node& node) const {
    auto check = [&](const Dims& dims) {
      for (const Dim& dim : dims)
        for (const std::string& name : dim.names())
          if (!is_given(name))
            fail("{}: size {}, but no input gives {}", node_label(node), dim.to_string(), name);
    };
    check(graph_.type(node.output).dims);
    for (const auto& [key, attribute] : node.attributes)
      if (const auto* dims = std::get_if<Dims>(&attribute)) check(*dims);
  }

  const Graph& graph_;
  std::set<std::string> given_;
};

}  // namespace

void check_attribute_names(const Node& node) {
  std::vector<std::string_view> known = attribute_names(node.op);
  for (const auto& [name, value] : node.attributes) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string list;
    for (std::string_view k : known) list += (list.empty() ? "" : ", ") + std::string(k);
    fail("{}: unknown attribute {}; it takes {}", node_label(node), name,
         list.empty() ? "none" : list);
  }
}

void verify(const Graph& graph) { Verifier(graph).run(); }

}  // namespace fuseline
