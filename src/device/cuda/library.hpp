// NVIDIA's libraries, opened at run time: where they are searched, and why one is missing.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace fuseline::cuda {

// Folders in the order of the search: FUSELINE_LIBRARY_PATH, the loader's own path (an empty
// entry), the toolkit's folders, Python wheels. An entry of FUSELINE_LIBRARY_PATH may also be a
// site-packages folder.
std::vector<std::string> library_folders();

// Files of these names in those folders, each once however many links lead to it.
std::vector<std::string> library_copies(std::span<const char* const> names);
// Libraries of this process whose file name starts so, each once: "libcudart.so".
std::vector<std::string> loaded_libraries(const std::string& prefix);

// A handle that stays open for the life of the process.
class Library {
 public:
  // The first of `names` that a folder has.
  explicit Library(std::span<const char* const> names);

  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& path() const { return path_; }
  // Why the library cannot be used, one line; empty where it can.
  const std::string& reason() const { return reason_; }

  // Sets a function pointer; where the symbol is missing, the whole library counts as missing.
  template <class Function>
  void resolve(Function*& function, const char* symbol) {
    function = reinterpret_cast<Function*>(find(symbol));
  }

  // Sets a function pointer, nullptr where the symbol is missing.
  template <class Function>
  void resolve_optional(Function*& function, const char* symbol) {
    function = reinterpret_cast<Function*>(look(symbol));
  }

 private:
  void* look(const char* symbol) const;
  void* find(const char* symbol);

  void* handle_ = nullptr;
  std::string path_;
  std::string reason_;
};

}  // namespace fuseline::cuda
