// Opening the calls of the CUDA driver that only measuring needs.
#include "cuda/extra_driver.hpp"

#include "base/fail.hpp"
#include "device/cuda/library.hpp"

namespace fuseline::bench {

const ExtraDriver& extra_driver() {
  static const ExtraDriver opened = [] {
    static constexpr const char* names[] = {"libcuda.so.1"};
    cuda::Library library(names);
    ExtraDriver extra;
#define FUSELINE_EXTRA_RESOLVE(member, symbol, parameters) library.resolve(extra.member, #symbol);
    FUSELINE_EXTRA_DRIVER_SYMBOLS(FUSELINE_EXTRA_RESOLVE)
#undef FUSELINE_EXTRA_RESOLVE
    if (!library) fail_device("the NVIDIA driver cannot be used: {}", library.reason());
    return extra;
  }();
  return opened;
}

}  // namespace fuseline::bench
