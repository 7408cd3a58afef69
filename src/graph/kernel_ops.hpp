// Facts about the operations of the kernel group that the reference and src/kernels share.
#pragma once

#include <optional>

#include "fuseline/graph.hpp"
#include "graph/intrinsics.hpp"

namespace fuseline {

// The attribute `combine` of scan and scatter; nothing for "set".
std::optional<Intrinsic> combine_of(const Attributes& attributes);

// A tensor as [outer, extent, inner] around one axis.
struct AxisView {
  std::int64_t outer = 1, extent = 1, inner = 1;
  AxisView(const Shape& shape, std::size_t axis);
  std::int64_t rows() const { return outer * inner; }
};

// The names "late(NAME)" that a node's type and attributes need.
std::vector<std::string> late_names(const Graph& graph, const Node& node);

}  // namespace fuseline
