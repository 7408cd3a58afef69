// Which values can differ between the threads of a block, and what that forbids.
#pragma once

#include <string>

#include "fuse/loop_ir.hpp"

namespace fuseline::loop {

// Barriers need control flow that all threads of the block share, shuffles and ballots one that
// the warp shares. Empty when that holds, else what stands where. A load at an index that all
// threads share counts as shared: the block that finishes last finds that out this way.
std::string divergence_fault(const Kernel& kernel);

}  // namespace fuseline::loop
