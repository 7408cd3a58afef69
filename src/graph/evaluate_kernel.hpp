// Operations of the kernel group by their definition: the whole result at once.
#pragma once

#include "graph/evaluate_node.hpp"

namespace fuseline {

// All elements of the node's result, row-major, rounded to its type. Element is Number or Bounded.
template <class Element>
std::vector<Element> compute_kernel(const Graph& graph, const Node& node,
                                    const DimBindings& bindings, const Reader<Element>& read);

// Exact operands give exact results.
bool kernel_keeps_exactness(const Graph& graph, const Node& node);

}  // namespace fuseline
