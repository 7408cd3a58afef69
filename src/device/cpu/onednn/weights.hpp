// Weights in the order that a primitive wants, made once for all calls that want them so.
#pragma once

#include <memory>
#include <vector>

#include "device/cpu/onednn/descriptors.hpp"

namespace fuseline::cpu {

struct WantedWeights {
  const void* data = nullptr;    // lives as long as what is made of it
  std::vector<double> scale;     // of each feature; empty: 1
  std::size_t feature_axis = 0;  // the last of those that tell features apart
  dnnl::memory::desc given, wanted;
  bool operator==(const WantedWeights&) const = default;
};

// Thread-safe. The memory lives as long as somebody holds it.
std::shared_ptr<const dnnl::memory> prepared_weights(const WantedWeights& wanted);

void store_numbers(void* to, DType dtype, const std::vector<double>& numbers);

void reorder(const dnnl::memory& from, dnnl::memory& to);

}  // namespace fuseline::cpu
