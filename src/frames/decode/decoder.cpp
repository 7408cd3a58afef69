// The one place that words a failed decode.
#include "frames/decode/decoder.hpp"

#include <cstring>

#include "base/fail.hpp"

namespace fuseline {

void fail_decoding(const ByteSource& bytes, const std::string& name, std::string_view format,
                   bool truncated, std::string_view reason) {
  if (bytes.error()) fail("{}: cannot be read: {}", name, std::strerror(bytes.error()));
  if (truncated) fail("{}: truncated {}: the file ends before the picture does", name, format);
  fail("{}: damaged {}: {}", name, format, reason);
}

}  // namespace fuseline
