// Error and InternalError, and where a broken invariant ends.
#include "fuseline/error.hpp"

#include <cstdio>
#include <cstdlib>

#include "base/fail.hpp"

namespace fuseline {

Error::Error(std::string message, ErrorKind kind) : message_(std::move(message)), kind_(kind) {}
Error::~Error() = default;
InternalError::InternalError(std::string message) : message_(std::move(message)) {}
InternalError::~InternalError() = default;

void fail_internal(const std::string& what, std::source_location where) {
  std::string_view file = where.file_name();
  if (auto src = file.rfind("src/"); src != file.npos) file.remove_prefix(src);
  std::string message = fmt::format("internal error: {} ({}:{})", what, file, where.line());
#ifdef FUSELINE_ABORT_ON_INTERNAL_ERROR
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
#endif
  throw InternalError(message);
}

}  // namespace fuseline
