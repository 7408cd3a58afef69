// How messages name a node: as it stands in the graph's text.
#pragma once

#include <fmt/core.h>

#include <string>

#include "fuseline/graph.hpp"

namespace fuseline {

inline std::string node_label(const Node& node) {
  return fmt::format("%{} = {}", node.output, name_of(node.op));
}

inline std::string type_text(const ValueType& type) {
  return fmt::format("{}{}", name_of(type.dtype), to_string(type.dims));
}

}  // namespace fuseline
