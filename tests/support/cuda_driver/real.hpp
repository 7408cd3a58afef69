// The machine's own CUDA driver, where it has one and a device.
#pragma once

#include "device/cuda/driver_api.hpp"

namespace fuseline::standin {

struct RealDriver {
#define FUSELINE_STANDIN_MEMBER(member, symbol, name, parameters) \
  cuda::driver_api::member##_fn* member = nullptr;
  FUSELINE_DRIVER_SYMBOLS(FUSELINE_STANDIN_MEMBER)
#undef FUSELINE_STANDIN_MEMBER
  bool usable = false;
};

// Opened once.
const RealDriver& real_driver();
// Until nothing is in flight on device 0.
void wait_for_device();

}  // namespace fuseline::standin
