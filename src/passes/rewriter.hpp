// Copying a graph node by node, with replacements: what the passes are written with.
#pragma once

#include <optional>
#include <vector>

#include "fuseline/graph.hpp"

namespace fuseline {

class Rewriter {
 public:
  explicit Rewriter(const Graph& from) : from_(from), new_value_(from.value_count()) {}

  // Where a value of the old graph now is.
  ValueId operator[](ValueId old) const;
  // The node with its operands replaced. Tensors are shared, not copied.
  void copy(const Node& node);
  // Nodes that were added for `with`, and have no origin yet, take that of `old`.
  void replace(ValueId old, ValueId with);
  Graph& graph() { return to_; }
  // Adds the outputs and gives the graph away.
  Graph finish();

 private:
  const Graph& from_;
  Graph to_;
  std::vector<std::optional<ValueId>> new_value_;
  std::size_t with_origin_ = 0;  // nodes of the new graph that have theirs
};

}  // namespace fuseline
