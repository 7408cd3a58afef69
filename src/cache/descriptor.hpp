// Files of the cache: made where they are missing, whole reads and writes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "base/descriptor.hpp"

namespace fuseline::cache {

// Opens for writing with O_CREAT, mode 0600; makes the folder where it is missing.
Descriptor create_file(const std::filesystem::path& path, int flags);

// False with errno; errno is 0 where the file ended early.
bool read_at(int fd, std::size_t offset, std::span<std::byte> into);
bool write_all(int fd, std::span<const std::byte> bytes);

std::string errno_text(int error);

}  // namespace fuseline::cache
