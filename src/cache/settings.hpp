// Where the user's cache is and how large it may be, from the environment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace fuseline::cache {

struct Settings {
  std::filesystem::path folder;  // empty: no cache on disk
  std::uint64_t budget = 0;
  std::string why_off;     // the reason where folder is empty
  bool asked_off = false;  // the user wanted that
};

// Fails where a variable has a value that means nothing.
Settings user_settings();

// "1048576", "512K", "64M", "2G"; what names the source in the error.
std::uint64_t parse_bytes(std::string_view text, std::string_view what);

}  // namespace fuseline::cache
