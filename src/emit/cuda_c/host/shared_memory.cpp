// Shared arrays of a simulated block.
#include "emit/cuda_c/host/shared_memory.hpp"

#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "base/fail.hpp"

namespace fuseline::host {

// Floats start as NaN, integers as a pattern that no sum hides.
void* SharedMemory::array(const char* name, std::int64_t elements, int bytes, Poison poison) {
  for (Array& a : arrays_)
    if (a.name == name) return a.data;
  Array& a = arrays_.emplace_back();
  a.name = name;
  std::size_t size = static_cast<std::size_t>(elements) * static_cast<std::size_t>(bytes);
  a.words.resize(size / 8 + 3);
  a.records.resize(static_cast<std::size_t>(elements));
  std::size_t room = a.words.size() * 8;
  a.data = a.words.data();
  a.data = std::align(16, size, a.data, room);
  std::memset(a.data, poison == poison_float ? 0xff : 0xa5, size);
  return a.data;
}

SharedMemory::Array& SharedMemory::find(const char* name) {
  for (Array& a : arrays_)
    if (a.name == name) return a;
  fail_internal("a shared array was touched before it existed");
}

std::string SharedMemory::touch(const char* name, std::int64_t index, bool write, bool atomic,
                                int thread) {
  Record& r = find(name).records[static_cast<std::size_t>(index)];
  bool write_now = r.write_interval == interval_, read_now = r.read_interval == interval_;
  if ((!write || atomic) && !r.written)
    return fmt::format("reads {}[{}] before anything was written there", name, index);
  if (write_now && r.writer != thread && !(atomic && r.atomic_write))
    return fmt::format("{} {}[{}], which thread {} writes with no barrier between",
                       write ? "writes" : "reads", name, index, r.writer);
  if (write && read_now && (r.many_readers || r.reader != thread))
    return fmt::format("writes {}[{}], which thread {} reads with no barrier between", name, index,
                       r.reader);
  if (write) {
    r.write_interval = interval_;
    r.writer = thread;
    r.atomic_write = atomic;
    r.written = true;
  } else {
    r.many_readers = read_now && (r.many_readers || r.reader != thread);
    r.read_interval = interval_;
    r.reader = thread;
  }
  return {};
}

}  // namespace fuseline::host
