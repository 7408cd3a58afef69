// Random graphs with inputs: seeded, so that every failure can be repeated.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fuseline/graph.hpp"
#include "fuseline/program.hpp"

namespace fuseline::fuzz {

struct Case {
  std::unique_ptr<Graph> graph;    // Values point to it
  std::vector<DimBindings> sizes;  // the sizes to run at, one after the other
};

// At most `max_operations` operations; the same seed with fewer operations gives a prefix.
Case random_case(std::uint64_t seed, int max_operations);

// Inputs for one binding of the sizes: misaligned bases, pitched rows, extreme values.
TensorMap random_inputs(const Graph& graph, const DimBindings& sizes, std::uint64_t seed);

// Host memory between guard bytes, at an offset from 64-byte alignment.
class GuardedTensor {
 public:
  GuardedTensor(DType dtype, Shape shape, std::size_t offset_elements);
  const Tensor& tensor() const { return tensor_; }
  void poison();  // fills the elements with bytes no kernel should leave
  bool guards_intact() const;

 private:
  std::vector<std::uint8_t> memory_;
  std::size_t begin_ = 0, end_ = 0;
  Tensor tensor_;
};

}  // namespace fuseline::fuzz
