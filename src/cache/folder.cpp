// Publishing, listing, sweeping and clearing a cache folder.
#include "cache/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <tuple>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "cache/descriptor.hpp"
#include "cache/key_lock.hpp"

namespace fuseline::cache {
namespace {

constexpr std::string_view temporary_suffix = ".tmp";
constexpr std::size_t hash_digits = 32;
constexpr std::time_t stale_after = 3600;  // no publish takes an hour: its writer is dead

bool only(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == text.npos;
}

std::optional<FileKind> kind_of(std::string_view name) {
  if (name.size() <= hash_digits || !only(name.substr(0, hash_digits), "0123456789abcdef"))
    return std::nullopt;
  std::string_view rest = name.substr(hash_digits);
  if (rest == entry_suffix) return FileKind::entry;
  if (rest == lock_suffix) return FileKind::lock;
  if (!rest.starts_with('.') || !rest.ends_with(temporary_suffix)) return std::nullopt;
  rest = rest.substr(1, rest.size() - 1 - temporary_suffix.size());
  return !rest.empty() && only(rest, "0123456789-") ? std::optional(FileKind::temporary)
                                                    : std::nullopt;
}

// A file of the same name may be left from a dead process or belong to another PID namespace.
Descriptor create_temporary(const std::filesystem::path& folder, std::string_view stem,
                            std::filesystem::path& path) {
  for (int i = 0;; ++i) {
    path = folder / fmt::format("{}.{}-{}-{}{}", stem, ::getpid(), ::gettid(), i, temporary_suffix);
    Descriptor file = create_file(path, O_WRONLY | O_EXCL);
    if (file || errno != EEXIST || i == 1000) return file;
  }
}

bool remove_file(const std::filesystem::path& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return true;
  log_debug("code cache: cannot remove {}: {}", path.string(), errno_text(errno));
  return false;
}

void remove_leftovers(const std::filesystem::path& folder, std::span<const OwnFile> files) {
  const std::time_t now = std::time(nullptr);
  for (const OwnFile& file : files) {
    if (now - file.used.tv_sec < stale_after) continue;
    if (file.kind == FileKind::temporary) remove_file(folder / file.name);
    if (file.kind == FileKind::lock) KeyLock::remove_if_free(folder / file.name);
  }
}

}  // namespace

std::vector<OwnFile> list_own_files(const std::filesystem::path& folder, int& error) {
  std::vector<OwnFile> files;
  std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), ::closedir);
  error = stream || errno == ENOENT ? 0 : errno;
  if (!stream) return files;
  for (errno = 0; const dirent* item = ::readdir(stream.get()); errno = 0) {
    std::optional<FileKind> kind = kind_of(item->d_name);
    struct stat info;
    if (!kind || ::fstatat(::dirfd(stream.get()), item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode))
      continue;
    files.push_back({*kind, item->d_name, static_cast<std::uint64_t>(info.st_size), info.st_mtim});
  }
  error = errno;
  return files;
}

Usage usage_of(std::span<const OwnFile> files) {
  Usage usage;
  for (const OwnFile& file : files)
    if (file.kind == FileKind::entry) {
      ++usage.entries;
      usage.bytes += file.bytes;
    }
  return usage;
}

// No fsync: after a power cut the name may stand before the bytes do, and the checksum finds that.
std::string publish_file(const std::filesystem::path& folder, std::string_view name,
                         std::span<const std::byte> bytes) {
  std::filesystem::path temporary;
  Descriptor file = create_temporary(folder, name.substr(0, hash_digits), temporary);
  if (!file) return fmt::format("{}: {}", folder.string(), errno_text(errno));
  if (write_all(file.get(), bytes) && file.close() &&
      ::rename(temporary.c_str(), (folder / name).c_str()) == 0)
    return {};
  int error = errno;
  remove_file(temporary);
  return fmt::format("writing to {}: {}", folder.string(), errno_text(error));
}

std::uint64_t sweep(const std::filesystem::path& folder, std::uint64_t budget,
                    std::string_view keep) {
  int error = 0;
  std::vector<OwnFile> files = list_own_files(folder, error);
  if (error) log_debug("code cache: cannot list {}: {}", folder.string(), errno_text(error));
  remove_leftovers(folder, files);
  std::uint64_t bytes = usage_of(files).bytes;
  if (bytes <= budget) return bytes;

  std::sort(files.begin(), files.end(), [](const OwnFile& a, const OwnFile& b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec, a.name) <
           std::tie(b.used.tv_sec, b.used.tv_nsec, b.name);
  });
  const std::uint64_t before = bytes, target = budget - budget / 10;
  for (const OwnFile& file : files) {
    if (bytes <= target) break;
    if (file.kind != FileKind::entry || file.name == keep) continue;
    if (remove_file(folder / file.name)) bytes -= file.bytes;
  }
  log_info("code cache: {} bytes exceed the budget of {}, {} left", before, budget, bytes);
  return bytes;
}

std::uint64_t clear_folder(const std::filesystem::path& folder) {
  int error = 0;
  std::vector<OwnFile> files = list_own_files(folder, error);
  if (error) fail("code cache: cannot list {}: {}", folder.string(), errno_text(error));
  std::uint64_t freed = 0;
  std::size_t kept = 0;
  for (const OwnFile& file : files) {
    if (file.kind == FileKind::lock)
      KeyLock::remove_if_free(folder / file.name);
    else if (remove_file(folder / file.name))
      freed += file.bytes;
    else
      ++kept;
  }
  if (kept)
    fail("code cache: {} of the files in {} could not be removed; check who may write the folder",
         kept, folder.string());
  return freed;
}

}  // namespace fuseline::cache
