// Encoding of an entry and the checks on the way back.
#include "cache/entry.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/log.hpp"
#include "cache/descriptor.hpp"

namespace fuseline::cache {
namespace {

constexpr char entry_magic[8] = {'F', 'U', 'S', 'E', 'C', 'O', 'D', 'E'};
constexpr std::size_t checked_from = offsetof(EntryHeader, key_bytes);
constexpr std::time_t touch_interval = 60;

EntryRead rejected(std::string reason) { return {ReadState::rejected, std::move(reason), {}}; }

EntryRead unreadable(const char* step, int error) {
  return {ReadState::unreadable, fmt::format("{}: {}", step, errno_text(error)), {}};
}

EntryRead unreadable_or_short(int error) {
  return error ? unreadable("read", error) : rejected("the file is shorter than its size says");
}

void write_checksum(EntryHeader& header, std::span<const std::byte> file) {
  XXH128_hash_t hash = XXH3_128bits(file.data() + checked_from, file.size() - checked_from);
  header.checksum[0] = hash.low64;
  header.checksum[1] = hash.high64;
}

// Who could have written it: code in the cache is executed, so only our own or root's counts.
std::string reject_file(const struct stat& info) {
  if (!S_ISREG(info.st_mode)) return "not a regular file";
  if (info.st_uid != ::geteuid() && info.st_uid != 0) return "the file belongs to another user";
  if (info.st_mode & (S_IWGRP | S_IWOTH)) return "other users may write the file";
  return {};
}

std::string reject_header(const EntryHeader& header, std::uint64_t file_bytes) {
  if (std::memcmp(header.magic, entry_magic, sizeof entry_magic) != 0) return "not a cache entry";
  if (header.format != entry_format)
    return fmt::format("format {}, this version reads {}", header.format, entry_format);
  if (header.header_bytes != sizeof(EntryHeader)) return "damaged header";
  std::uint64_t body = file_bytes - sizeof(EntryHeader);
  if (header.key_bytes > body || header.payload_bytes != body - header.key_bytes)
    return fmt::format("the file has {} bytes, its header says key {} and payload {}", file_bytes,
                       header.key_bytes, header.payload_bytes);
  return {};
}

std::string reject_content(const EntryHeader& header, std::span<const std::byte> file,
                           std::string_view key) {
  EntryHeader found = header;
  write_checksum(found, file);
  if (found.checksum[0] != header.checksum[0] || found.checksum[1] != header.checksum[1])
    return "the checksum does not match";
  if (header.key_bytes != key.size() ||
      std::memcmp(file.data() + sizeof(EntryHeader), key.data(), key.size()) != 0)
    return "it holds the code of another key";
  return {};
}

void mark_used(int fd, const struct stat& info) {
  if (std::abs(std::time(nullptr) - info.st_mtim.tv_sec) < touch_interval) return;
  if (::futimens(fd, nullptr) != 0)
    log_debug("code cache: cannot mark an entry as used: {}", errno_text(errno));
}

}  // namespace

std::string entry_name(std::string_view key) {
  XXH128_hash_t hash = XXH3_128bits_withSeed(key.data(), key.size(), entry_format);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::vector<std::byte> encode_entry(std::string_view key, std::span<const std::byte> payload) {
  EntryHeader header{{}, entry_format, sizeof(EntryHeader), {}, key.size(), payload.size()};
  std::memcpy(header.magic, entry_magic, sizeof entry_magic);
  std::vector<std::byte> file(sizeof header + key.size() + payload.size());
  std::memcpy(file.data(), &header, sizeof header);
  if (!key.empty()) std::memcpy(file.data() + sizeof header, key.data(), key.size());
  if (!payload.empty())
    std::memcpy(file.data() + sizeof header + key.size(), payload.data(), payload.size());
  write_checksum(header, file);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

EntryRead read_entry(const std::filesystem::path& path, std::string_view key) {
  // O_NONBLOCK: a pipe with this name must not stop us.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file && errno == ENOENT) return {};
  if (!file && errno == ELOOP) return rejected("a symbolic link");
  if (!file) return unreadable("open", errno);
  struct stat info;
  if (::fstat(file.get(), &info) != 0) return unreadable("stat", errno);
  if (std::string reason = reject_file(info); !reason.empty()) return rejected(std::move(reason));
  auto bytes = static_cast<std::uint64_t>(info.st_size);
  if (bytes < sizeof(EntryHeader) || bytes > max_entry_bytes)
    return rejected(fmt::format("{} bytes cannot be an entry", bytes));

  EntryHeader header;
  if (!read_at(file.get(), 0, std::as_writable_bytes(std::span(&header, 1))))
    return unreadable_or_short(errno);
  if (std::string reason = reject_header(header, bytes); !reason.empty())
    return rejected(std::move(reason));
  std::vector<std::byte> content(bytes);
  if (!read_at(file.get(), 0, content)) return unreadable_or_short(errno);
  if (std::string reason = reject_content(header, content, key); !reason.empty())
    return rejected(std::move(reason));
  mark_used(file.get(), info);
  auto payload_at = static_cast<std::ptrdiff_t>(sizeof header + key.size());
  content.erase(content.begin(), content.begin() + payload_at);
  return {ReadState::found, {}, std::move(content)};
}

}  // namespace fuseline::cache
