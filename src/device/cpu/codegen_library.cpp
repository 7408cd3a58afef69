// Opening libfuseline_llvm.so.
#include "device/cpu/codegen_library.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/fail.hpp"
#include "device/cpu/sibling.hpp"

namespace fuseline::cpu {
namespace {

constexpr const char* library_name = "libfuseline_llvm.so";

emit::Codegen& open_library() {
  std::string reason;
  auto* open = reinterpret_cast<emit::OpenCodegen*>(
      sibling_symbol(library_name, emit::open_codegen_symbol, reason));
  if (!open)
    fail_device("the code generator for CPUs cannot be opened ({}); install it with its LLVM",
                reason);
  emit::Codegen* codegen = open(emit::codegen_abi);
  if (!codegen)
    fail_device("{} belongs to another version of Fuseline; reinstall Fuseline",
                sibling_path(library_name));
  return *codegen;
}

}  // namespace

emit::Codegen& codegen() {
  static emit::Codegen& opened = open_library();
  return opened;
}

std::string codegen_identity() {
  struct stat file {};
  std::string path = sibling_path(library_name);
  if (stat(path.c_str(), &file) != 0) return path;
  return fmt::format("{} {} {}.{:09}", library_name, file.st_size, file.st_mtim.tv_sec,
                     file.st_mtim.tv_nsec);
}

}  // namespace fuseline::cpu
