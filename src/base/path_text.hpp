// A path as text for a message: one line, whatever the file is called.
#pragma once

#include <filesystem>
#include <string>

namespace fuseline {

// Control characters appear as \xNN.
std::string path_text(const std::filesystem::path& path);

}  // namespace fuseline
