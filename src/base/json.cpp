// The one way JSON is written.
#include "base/json.hpp"

#include <cerrno>
#include <cstring>

#include "base/fail.hpp"

namespace fuseline {

std::string json_text(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

void print_json(const Json& value, std::FILE* stream) {
  std::string text = json_text(value) + '\n';
  bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  if (!written || std::fflush(stream) != 0)
    fail("the JSON output could not be written: {}", std::strerror(errno));
}

}  // namespace fuseline
