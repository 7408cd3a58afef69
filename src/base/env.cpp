// The table of environment variables and the one call of getenv.
#include "base/env.hpp"

#include <array>
#include <cstdlib>

namespace fuseline {
namespace {

constexpr auto rows = std::to_array<EnvRow>({
#define FUSELINE_ENV(id, name, fallback, meaning) {name, fallback, meaning},
#include "base/env.def"
#undef FUSELINE_ENV
});

}  // namespace

std::span<const EnvRow> env_table() { return rows; }

std::string_view name_of(EnvVar variable) { return rows[static_cast<std::size_t>(variable)].name; }

std::optional<std::string> env(EnvVar variable) {
  const char* value = std::getenv(name_of(variable).data());  // rows are literals: terminated
  if (!value || !*value) return std::nullopt;
  return value;
}

void set_env(EnvVar variable, const std::string& value) {
  ::setenv(name_of(variable).data(), value.c_str(), 1);
}

}  // namespace fuseline
