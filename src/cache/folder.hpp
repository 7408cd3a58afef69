// The files of a cache folder: publishing one, listing ours, removing the least used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fuseline::cache {

inline constexpr std::string_view entry_suffix = ".code";
inline constexpr std::string_view lock_suffix = ".lock";

enum class FileKind { entry, lock, temporary };

struct OwnFile {
  FileKind kind;
  std::string name;
  std::uint64_t bytes;
  std::timespec used;
};

struct Usage {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
};

// Regular files whose names are of our making; all others are never touched. Sets error (errno);
// a folder that does not exist is empty.
std::vector<OwnFile> list_own_files(const std::filesystem::path& folder, int& error);
Usage usage_of(std::span<const OwnFile> files);

// Writes a temporary file and renames it to name. Empty, or what went wrong.
std::string publish_file(const std::filesystem::path& folder, std::string_view name,
                         std::span<const std::byte> bytes);

// Where the entries exceed the budget, removes those unused for longest until 90 % of it is left,
// but never `keep`; removes what dead processes left. Returns the bytes of the entries left.
std::uint64_t sweep(const std::filesystem::path& folder, std::uint64_t budget,
                    std::string_view keep);

// Removes everything of ours that is not in use; returns the bytes freed.
std::uint64_t clear_folder(const std::filesystem::path& folder);

}  // namespace fuseline::cache
