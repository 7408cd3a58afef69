// The only reader of environment variables, and the table of those that exist.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fuseline {

enum class EnvVar {
#define FUSELINE_ENV(id, name, fallback, meaning) id,
#include "base/env.def"
#undef FUSELINE_ENV
};

struct EnvRow {
  std::string_view name;
  std::string_view fallback;  // what holds where the variable is not set, for documentation
  std::string_view meaning;
};

// One row for each EnvVar, in its order.
std::span<const EnvRow> env_table();
std::string_view name_of(EnvVar variable);

// The value; none where the variable is unset or empty.
std::optional<std::string> env(EnvVar variable);
// Sets the variable for this process, as options of the command line do; only while no other
// thread runs.
void set_env(EnvVar variable, const std::string& value);

}  // namespace fuseline
