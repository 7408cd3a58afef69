// How much arithmetic an operation is, roughly.
#pragma once

#include "fuseline/graph.hpp"

namespace fuseline {

// Per element, in additions: 1, and 8 for each call of a transcendental function in its semantics.
int work_of(OpCode op);

}  // namespace fuseline
