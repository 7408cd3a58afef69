// operator new of the test program: counts the allocations of each thread.
#include <cstdlib>
#include <new>

#include "device/cuda/support.hpp"

namespace {

thread_local std::int64_t count = 0;

void* take(std::size_t bytes, std::size_t alignment) {
  if (!fuseline::test::inside_driver()) ++count;
  void* memory = alignment <= alignof(std::max_align_t)
                     ? std::malloc(bytes + 1)
                     : std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return take(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace fuseline::test {

std::int64_t host_allocations() { return count; }

}  // namespace fuseline::test
