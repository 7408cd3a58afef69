// The system's C++ compiler: finds it, and makes a shared object of one source text.
#pragma once

#include <string>
#include <vector>

namespace fuseline::host {

// "g++", "c++" or "clang++", whichever runs first; empty where none does.
const std::string& compiler_name();

struct SharedObject {
  void* handle = nullptr;
  SharedObject() = default;
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  ~SharedObject();
  void* symbol(const char* name) const;
};

// Compiles and opens. Throws Error (device) where there is no compiler or no room for its files.
// Returns what the compiler says where it rejects the text, empty where it does not.
std::string compile_and_open(SharedObject& object, const std::string& source,
                      const std::vector<std::string>& flags);

}  // namespace fuseline::host
