// libm and libmvec, opened at run time; without libmvec code calls libm lane by lane.
#include "device/cpu/math_symbols.hpp"

#include <dlfcn.h>
#include <gnu/libc-version.h>

namespace fuseline::cpu {
namespace {

struct Libraries {
  // Global, so that ORC finds their functions among those of the process.
  void* vector = dlopen("libmvec.so.1", RTLD_NOW | RTLD_GLOBAL);
  void* scalar = dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL);
};

const Libraries& libraries() {
  static const Libraries opened;
  return opened;
}

}  // namespace

void* resolve_symbol(const char* name) {
  for (void* library : {libraries().vector, libraries().scalar})
    if (void* address = library ? dlsym(library, name) : nullptr) return address;
  return dlsym(RTLD_DEFAULT, name);
}

std::string math_library_identity() {
  std::string text = std::string("glibc ") + gnu_get_libc_version();
  return text + (libraries().vector ? " with libmvec" : " without libmvec");
}

}  // namespace fuseline::cpu
