// Which contractions become library calls, and what each computes in passing.
#pragma once

#include <map>

#include "fuse/call.hpp"

namespace fuseline {

// By the value that each stores. `consumers` lists the users of every value that an output needs.
std::map<ValueId, Call> find_calls(const Graph& graph, const PartitionOptions& options,
                                   const std::vector<std::vector<ValueId>>& consumers);

}  // namespace fuseline
