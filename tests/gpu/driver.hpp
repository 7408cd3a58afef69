// The driver itself, for what tests do beside Fuseline: modules of many kernels, captures.
#pragma once

#include <dlfcn.h>

#include <stdexcept>

#include "device/cuda/driver_api.hpp"

namespace fuseline::test {

namespace api = cuda::driver_api;

struct Driver {
#define FUSELINE_TEST_MEMBER(member, symbol, name, parameters) api::member##_fn* member = nullptr;
  FUSELINE_DRIVER_SYMBOLS(FUSELINE_TEST_MEMBER)
#undef FUSELINE_TEST_MEMBER

  Driver() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(dlerror());
#define FUSELINE_TEST_FIND(member, symbol, name, parameters) \
  member = reinterpret_cast<api::member##_fn*>(dlsym(library, #symbol));
    FUSELINE_DRIVER_SYMBOLS(FUSELINE_TEST_FIND)
#undef FUSELINE_TEST_FIND
    begin_capture =
        reinterpret_cast<decltype(begin_capture)>(dlsym(library, "cuStreamBeginCapture_v2"));
    end_capture = reinterpret_cast<decltype(end_capture)>(dlsym(library, "cuStreamEndCapture"));
  }
  api::Result (*begin_capture)(api::Stream, int mode) = nullptr;
  api::Result (*end_capture)(api::Stream, api::Graph*) = nullptr;
};

inline const Driver& driver() {
  static const Driver opened;
  return opened;
}

inline void check(api::Result result) {
  if (result == api::success) return;
  const char* name = nullptr;
  driver().error_name(result, &name);
  throw std::runtime_error(name ? name : "a driver call failed");
}

}  // namespace fuseline::test
