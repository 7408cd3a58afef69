// The machine's own CUDA driver.
#include "support/cuda_driver/real.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

namespace fuseline::standin {
namespace {

RealDriver open_real() {
  RealDriver real;
  const char* wish = std::getenv("CUDA_STANDIN");
  if (wish && std::string_view(wish) == "simulated") return real;
  // This library has no SONAME, so the name alone finds the loader's libcuda, not ourselves.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return real;
  bool complete = true;
#define FUSELINE_STANDIN_RESOLVE(member, symbol, name, parameters)                         \
  real.member = reinterpret_cast<cuda::driver_api::member##_fn*>(dlsym(library, #symbol)); \
  complete = complete && real.member;
  FUSELINE_DRIVER_SYMBOLS(FUSELINE_STANDIN_RESOLVE)
#undef FUSELINE_STANDIN_RESOLVE
  int devices = 0;
  real.usable = complete && real.init(0) == cuda::driver_api::success &&
                real.device_count(&devices) == cuda::driver_api::success && devices > 0;
  return real;
}

}  // namespace

const RealDriver& real_driver() {
  static const RealDriver real = open_real();
  return real;
}

void wait_for_device() {
  auto* wait = reinterpret_cast<cuda::driver_api::Result (*)()>(
      dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxSynchronize"));
  cuda::driver_api::Context context = nullptr, popped = nullptr;
  if (!wait || real_driver().primary_retain(&context, 0) != cuda::driver_api::success) return;
  real_driver().context_push(context);
  wait();
  real_driver().context_pop(&popped);
}

}  // namespace fuseline::standin
