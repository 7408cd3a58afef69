// The parts in which a concatenation, or what is made of one, is written.
#pragma once

#include "fuse/grouping.hpp"

namespace fuseline {

// The operands of a concatenation; a part that is made element by element of a concatenation along
// its innermost axis is cut where that one's operands meet. One part: the value is not cut.
std::vector<Part> parts_of(const Graph& graph, ValueId root);

}  // namespace fuseline
