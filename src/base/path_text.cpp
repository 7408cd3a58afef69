// Paths in messages.
#include "base/path_text.hpp"

#include <fmt/core.h>

namespace fuseline {

std::string path_text(const std::filesystem::path& path) {
  std::string text;
  for (char c : path.native()) {
    auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f)
      text += fmt::format("\\x{:02x}", code);
    else
      text += c;
  }
  return text;
}

}  // namespace fuseline
