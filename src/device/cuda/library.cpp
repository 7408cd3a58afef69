// Search and opening of NVIDIA's libraries.
#include "device/cuda/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>
#include <link.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "base/env.hpp"

namespace fuseline::cuda {
namespace {

void add_matches(std::vector<std::string>& folders, const std::string& pattern) {
  glob_t found = {};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    folders.insert(folders.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
}

bool is_file(const std::string& path) {
  std::vector<std::string> found;
  add_matches(found, path);
  return !found.empty();
}

}  // namespace

std::vector<std::string> library_folders() {
  std::vector<std::string> folders;
  std::istringstream listed(env(EnvVar::library_path).value_or(""));
  for (std::string folder; std::getline(listed, folder, ':');) {
    if (folder.empty()) continue;
    folders.push_back(folder);
    add_matches(folders, folder + "/nvidia/*/lib");
  }
  folders.emplace_back();
  for (const char* pattern :
       {"/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/usr/local/cuda-*/lib64",
        "/usr/lib/nvidia-cuda-toolkit/lib64", "/usr/local/lib/python3*/*-packages/nvidia/*/lib",
        "/usr/lib/python3*/*-packages/nvidia/*/lib"})
    add_matches(folders, pattern);
  if (auto home = env(EnvVar::home))
    add_matches(folders, *home + "/.local/lib/python3*/site-packages/nvidia/*/lib");
  return folders;
}

std::vector<std::string> library_copies(std::span<const char* const> names) {
  std::set<std::string> found;
  for (const std::string& folder : library_folders())
    for (const char* name : names) {
      std::error_code missing;
      auto real = std::filesystem::canonical(folder + "/" + name, missing);
      if (!folder.empty() && !missing) found.insert(real.string());
    }
  return {found.begin(), found.end()};
}

std::vector<std::string> loaded_libraries(const std::string& prefix) {
  std::pair<const std::string&, std::set<std::string>> search(prefix, {});
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* data) {
        auto& [wanted, found] = *static_cast<decltype(search)*>(data);
        std::string path = library->dlpi_name;
        if (path.substr(path.rfind('/') + 1).starts_with(wanted)) found.insert(path);
        return 0;
      },
      &search);
  return {search.second.begin(), search.second.end()};
}

Library::Library(std::span<const char* const> names) {
  std::string broken;
  for (const std::string& folder : library_folders()) {
    for (const char* name : names) {
      std::string path = folder.empty() ? name : folder + "/" + name;
      if (!folder.empty() && !is_file(path)) continue;
      handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_) {
        path_ = path;
        return;
      }
      // The loader's path has most names not at all; a file that does not load is worth a word.
      if (!folder.empty() && broken.empty()) broken = dlerror();
    }
  }
  reason_ = fmt::format("{} not found; install it or name its folder in FUSELINE_LIBRARY_PATH",
                        fmt::join(names, ", "));
  if (!broken.empty())
    reason_ = fmt::format("{} was found but does not load: {}", names[0], broken);
}

void* Library::look(const char* symbol) const { return handle_ ? dlsym(handle_, symbol) : nullptr; }

void* Library::find(const char* symbol) {
  void* address = look(symbol);
  if (handle_ && !address) {
    reason_ = fmt::format("{} has no {}: it is too old", path_, symbol);
    handle_ = nullptr;
  }
  return address;
}

}  // namespace fuseline::cuda
