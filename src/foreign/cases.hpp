// What a foreign kernel is run on: sizes, contents, base addresses, and the results that must come.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "foreign/contract.hpp"
#include "graph/evaluate.hpp"

namespace fuseline::foreign {

struct Case {
  DimBindings sizes;
  std::string label;  // "H=3 W=5"
  Shape space;        // what the grid covers
  std::vector<NamedTensor> inputs;
  std::vector<Evaluated> expected;  // of the outputs
  bool is_large = false;            // run at fewer base addresses
};

// Sizes to try, the smallest first: ones, odd and prime ones, those beside powers of two, and one
// moderately large.
std::vector<DimBindings> sizes_to_try(const Contract& contract);

// Contents alternate between random ones and runs that pass through all values. Throws Error where
// the graph does not take the sizes.
Case make_case(const Contract& contract, const DimBindings& sizes, std::size_t number);

// Bytes between a 256-byte boundary and each argument's base.
using Offsets = std::vector<std::int64_t>;
// `align`: every offset is a multiple of it, and of the argument's element size.
std::vector<Offsets> offsets_to_try(const Contract& contract, int align, bool few);

}  // namespace fuseline::foreign
