// Copying of nodes.
#include "passes/rewriter.hpp"

#include "base/fail.hpp"

namespace fuseline {

ValueId Rewriter::operator[](ValueId old) const {
  require(new_value_[old].has_value(), "a pass dropped a value that is still used");
  return *new_value_[old];
}

void Rewriter::replace(ValueId old, ValueId with) {
  new_value_[old] = with;
  for (; with_origin_ < to_.nodes().size(); ++with_origin_) {
    const Node& node = to_.nodes()[with_origin_];
    if (node.origin.empty()) to_.set_origin_of(node.output, from_.node_of(old).origin);
  }
}

void Rewriter::copy(const Node& node) {
  if (node.op == OpCode::input) {
    const ValueType& type = from_.type(node.output);
    replace(node.output, to_.input(node.attributes.text("name"), type.dtype, type.dims).id());
    return;
  }
  std::vector<Value> operands;
  for (ValueId input : node.inputs) operands.push_back(to_.value((*this)[input]));
  replace(node.output, to_.apply(node.op, operands, node.attributes).id());
}

Graph Rewriter::finish() {
  for (const NamedValue& output : from_.outputs())
    to_.output(output.name, to_.value((*this)[output.value]));
  return std::move(to_);
}

}  // namespace fuseline
