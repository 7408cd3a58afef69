// Mapping files into memory.
#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor.hpp"
#include "base/fail.hpp"

namespace fuseline {

MappedFile map_file(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) fail("{}: {}", path.string(), std::strerror(errno));
  struct stat state {};
  if (::fstat(file.get(), &state) != 0) fail("{}: {}", path.string(), std::strerror(errno));
  if (!S_ISREG(state.st_mode)) fail("{}: not a file", path.string());
  auto size = static_cast<std::size_t>(state.st_size);
  if (size == 0) return {};
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (memory == MAP_FAILED) fail("{}: {}", path.string(), std::strerror(errno));
  std::shared_ptr<const void> owner(
      memory, [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
  return {owner, {static_cast<const char*>(memory), size}};
}

}  // namespace fuseline
