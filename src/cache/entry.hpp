// The file format of one cache entry: written as a whole, believed only after every check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fuseline::cache {

// Raise this when the layout changes; it is part of the file name, so that two versions of the
// program do not replace each other's entries.
inline constexpr std::uint32_t entry_format = 1;
inline constexpr std::uint64_t max_entry_bytes = std::uint64_t{1} << 30;

// In the byte order of the machine that wrote it: a foreign order reads as a foreign format.
struct EntryHeader {
  char magic[8];
  std::uint32_t format;
  std::uint32_t header_bytes;
  std::uint64_t checksum[2];  // XXH3-128 of everything behind this field
  std::uint64_t key_bytes;
  std::uint64_t payload_bytes;
};
static_assert(sizeof(EntryHeader) == 48);

// 32 hexadecimal digits, a hash of the key: only a name, the key itself is compared in full.
std::string entry_name(std::string_view key);

std::vector<std::byte> encode_entry(std::string_view key, std::span<const std::byte> payload);

enum class ReadState { found, absent, rejected, unreadable };

struct EntryRead {
  ReadState state = ReadState::absent;
  std::string reason;  // why rejected or unreadable
  std::vector<std::byte> payload;
};

// Reads and checks an entry; marks it as used, for the sweep, at most once a minute.
EntryRead read_entry(const std::filesystem::path& path, std::string_view key);

}  // namespace fuseline::cache
