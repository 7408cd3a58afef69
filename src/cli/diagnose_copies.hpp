// Copies between the host and a GPU, through the same queue that frames take.
#pragma once

#include <functional>

#include "ledger/roofline.hpp"

namespace fuseline::cli {

// Adds what could be measured on the first GPU, and why the rest could not.
void add_device_copies(Roofline& roofline, const std::function<void()>& between);

}  // namespace fuseline::cli
