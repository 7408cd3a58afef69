// Library calls against the definition of what they compute, element by element.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuseline/program.hpp"

namespace fuseline::cli {

struct CallCheck {
  std::string name;         // the model's nodes that the call computes
  std::int64_t points = 0;  // corners and a sample
  std::int64_t wrong = 0;   // outside the interval that rounding allows
  std::string first;        // of the wrong ones: where, and what
};

// The program's library calls run on these inputs; each result is compared at corners and sampled
// points with what evaluate_at computes from the call's own operands.
std::vector<CallCheck> check_calls(const Program& program, const TensorMap& inputs,
                                   const CompileOptions& options, std::uint64_t seed);

}  // namespace fuseline::cli
