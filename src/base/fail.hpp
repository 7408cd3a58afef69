// Throwing with a formatted message, and the check of internal invariants.
#pragma once

#include <fmt/core.h>

#include <source_location>
#include <utility>

#include "fuseline/error.hpp"

namespace fuseline {

// throw Error: the user's fault. Message: operation, rule, received values, next step.
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
[[noreturn]] void fail_device(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...), ErrorKind::device);
}

[[noreturn]] void fail_internal(
    const std::string& what, std::source_location where = std::source_location::current());

// Our own invariants; never used for a user's mistake.
inline void require(bool holds, const char* what,
                    std::source_location where = std::source_location::current()) {
  if (!holds) fail_internal(what, where);
}

}  // namespace fuseline
