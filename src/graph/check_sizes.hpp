// Sizes of one run: read off the inputs, and checked against what every node needs.
#pragma once

#include <set>
#include <span>
#include <string>
#include <utility>

#include "fuseline/graph.hpp"

namespace fuseline {

using NamedTensor = std::pair<std::string, Tensor>;

// Matches tensors to the graph's inputs by name. Symbols take their values from shapes, shape
// operands from the elements of small integer inputs in host memory; sizes that are expressions are
// then checked. Every difference is an Error that names input, axis, expected and received size.
DimBindings bind_sizes(const Graph& graph, std::span<const NamedTensor> inputs);

// Names of the inputs whose elements are sizes somewhere in the graph.
std::set<std::string> operand_inputs(const Graph& graph);

// Error if some value has a negative or too large size, or a node cannot work with these sizes
// (reshape changes the element count, a slice leaves its operand, ...).
// Nodes with late sizes are left out: whoever runs the graph checks them when these are known.
void check_sizes(const Graph& graph, const DimBindings& bindings);
void check_sizes(const Graph& graph, const Node& node, const DimBindings& bindings);

// The numbers behind the sizes; Error when one is negative.
Shape shape_of(const Dims& dims, const DimBindings& bindings);

// The tensor given for an input; the name must have passed bind_sizes.
const Tensor& tensor_of(std::span<const NamedTensor> inputs, std::string_view name);

}  // namespace fuseline
