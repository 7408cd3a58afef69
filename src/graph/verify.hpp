// Rules of single nodes that the type rules do not see.
#pragma once

#include "fuseline/graph.hpp"

namespace fuseline {

// Error if a node has an attribute that its operation does not know.
void check_attribute_names(const Node& node);

}  // namespace fuseline
