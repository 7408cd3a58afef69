// Finding libfuseline_llvm.so beside this library, and opening it.
#include "device/cpu/codegen_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/fail.hpp"

namespace fuseline::cpu {
namespace {

constexpr const char* library_name = "libfuseline_llvm.so";

// Beside this library, else wherever the dynamic linker finds it.
std::string library_path() {
  Dl_info here{};
  if (!dladdr(reinterpret_cast<const void*>(&library_path), &here) || !here.dli_fname)
    return library_name;
  std::string own = here.dli_fname;
  std::size_t slash = own.rfind('/');
  if (slash == own.npos) return library_name;
  std::string path = own.substr(0, slash + 1) + library_name;
  struct stat file {};
  return stat(path.c_str(), &file) == 0 ? path : library_name;
}

emit::Codegen& open_library() {
  std::string path = library_path();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail_device("the code generator for CPUs cannot be opened ({}); install it with its LLVM",
                dlerror());
  auto* open = reinterpret_cast<emit::OpenCodegen*>(dlsym(library, emit::open_codegen_symbol));
  emit::Codegen* codegen = open ? open(emit::codegen_abi) : nullptr;
  if (!codegen) fail_device("{} belongs to another version of Fuseline; reinstall Fuseline", path);
  return *codegen;
}

}  // namespace

emit::Codegen& codegen() {
  static emit::Codegen& opened = open_library();
  return opened;
}

std::string codegen_identity() {
  struct stat file {};
  std::string path = library_path();
  if (stat(path.c_str(), &file) != 0) return path;
  return fmt::format("{} {} {}.{:09}", library_name, file.st_size, file.st_mtim.tv_sec,
                     file.st_mtim.tv_nsec);
}

}  // namespace fuseline::cpu
