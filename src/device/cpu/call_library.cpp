// Opening libfuseline_onednn.so.
#include "device/cpu/call_library.hpp"

#include "base/log.hpp"
#include "device/cpu/sibling.hpp"

namespace fuseline::cpu {
namespace {

constexpr const char* library_name = "libfuseline_onednn.so";

CallLibrary* open_library() {
  std::string reason;
  auto* open = reinterpret_cast<OpenCallLibrary*>(
      sibling_symbol(library_name, open_call_library_symbol, reason));
  CallLibrary* library = open ? open(call_library_abi) : nullptr;
  if (open && !library) reason = "it belongs to another version of Fuseline";
  if (!library)
    log_warn("convolutions and matrix products are generated, which is slow: {} cannot be used: {}",
             library_name, reason);
  return library;
}

}  // namespace

CallLibrary* call_library() {
  static CallLibrary* opened = open_library();
  return opened;
}

}  // namespace fuseline::cpu
