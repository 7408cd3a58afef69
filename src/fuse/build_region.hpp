// A group of stored values becomes a Region: everything that they need is pulled into its DAG.
#pragma once

#include "fuse/grouping.hpp"

namespace fuseline {

Region build_region(const Grouping& grouping, std::size_t group, bool parity);

// A value as messages name it.
std::string describe_value(const Graph& graph, ValueId value);

}  // namespace fuseline
