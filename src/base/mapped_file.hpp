// A file in memory, for as long as something points into it.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace fuseline {

struct MappedFile {
  std::shared_ptr<const void> owner;  // unmaps when the last copy goes
  std::string_view bytes;
};

// Maps a file for reading. The pages are private: a writer elsewhere does not reach a running
// program's weights once they were read.
MappedFile map_file(const std::filesystem::path& path);

}  // namespace fuseline
