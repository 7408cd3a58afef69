// ObjectImage: an object file of our code generator placed in memory without LLVM, so that a
// kernel from the cache is callable in microseconds instead of after loading a large library.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace fuseline::cpu {

class ObjectImage {
 public:
  using Resolve = void* (*)(const char* name);

  // nullptr, with a reason, where the object needs more than this loader knows (another
  // processor, writable data, an unknown relocation): ORC links it then.
  static std::unique_ptr<ObjectImage> load(std::span<const std::byte> object,
                                           const std::string& symbol, Resolve resolve,
                                           std::string& reason);
  ~ObjectImage();
  ObjectImage(const ObjectImage&) = delete;
  ObjectImage& operator=(const ObjectImage&) = delete;

  void* entry() const { return entry_; }

 private:
  ObjectImage(std::byte* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}

  std::byte* memory_;
  std::size_t bytes_;
  void* entry_ = nullptr;
};

}  // namespace fuseline::cpu
