// What this machine's memories, links and launches cost: copies through the same queues that frames
// take, launches of kernels that do nothing.
#pragma once

#include <functional>

#include "ledger/roofline.hpp"

namespace fuseline::cli {

// Adds what could be measured on a GPU, "cuda" or "cuda:1", and why the rest could not.
void add_gpu_rates(Roofline& roofline, const std::string& gpu,
                   const std::function<void()>& between);
// The cost of a launch on a device, by "auto", "cpu", "cuda:1".
void add_launch_costs(Roofline& roofline, const std::string& device);

}  // namespace fuseline::cli
