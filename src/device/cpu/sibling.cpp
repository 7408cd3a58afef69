// Finding and opening.
#include "device/cpu/sibling.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

namespace fuseline::cpu {

std::string sibling_path(const char* name) {
  Dl_info here{};
  if (!dladdr(reinterpret_cast<const void*>(&sibling_path), &here) || !here.dli_fname) return name;
  std::string own = here.dli_fname;
  std::size_t slash = own.rfind('/');
  if (slash == own.npos) return name;
  std::string path = own.substr(0, slash + 1) + name;
  struct stat file {};
  return stat(path.c_str(), &file) == 0 ? path : name;
}

void* sibling_symbol(const char* name, const char* symbol, std::string& reason) {
  void* library = dlopen(sibling_path(name).c_str(), RTLD_NOW | RTLD_LOCAL);
  void* address = library ? dlsym(library, symbol) : nullptr;
  if (!address) reason = dlerror();
  return address;
}

}  // namespace fuseline::cpu
