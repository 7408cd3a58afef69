// libfuseline_nvtx.so beside libfuseline.so.
#include "nvtx/reader.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace fuseline::nvtx {

std::string reader_library() {
  namespace fs = std::filesystem;
  Dl_info here{};
  if (!dladdr(reinterpret_cast<const void*>(&reader_library), &here) || !here.dli_fname) return {};
  std::error_code error;
  fs::path path = fs::absolute(here.dli_fname, error).parent_path() / "libfuseline_nvtx.so";
  return !error && fs::exists(path, error) ? path.string() : std::string();
}

}  // namespace fuseline::nvtx
