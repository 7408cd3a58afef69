// The environment variables of the cache.
#include "cache/settings.hpp"

#include <charconv>
#include <limits>

#include "base/env.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"

namespace fuseline::cache {
namespace {

namespace fs = std::filesystem;

bool asked_off() {
  std::string value = env(EnvVar::cache).value_or("on");
  if (value != "on" && value != "off")
    fail("{}: \"{}\" is neither on nor off", name_of(EnvVar::cache), value);
  return value == "off";
}

// Empty where the environment names no folder.
fs::path user_folder() {
  // Absolute from now on, whatever the working directory becomes.
  if (auto folder = env(EnvVar::cache_dir)) return fs::absolute(*folder);
  if (auto parent = env(EnvVar::xdg_cache_home)) {
    if (fs::path(*parent).is_absolute()) return fs::path(*parent) / "fuseline";
    log_warn("{}: \"{}\" is ignored, it is not an absolute path", name_of(EnvVar::xdg_cache_home),
             *parent);
  }
  if (auto home = env(EnvVar::home)) return fs::absolute(*home) / ".cache" / "fuseline";
  return {};
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text, std::string_view what) {
  constexpr std::string_view suffixes = "KMG";
  std::string_view digits = text;
  unsigned shift = 0;
  if (!text.empty() && suffixes.find(text.back()) != suffixes.npos) {
    shift = 10 * static_cast<unsigned>(suffixes.find(text.back()) + 1);
    digits.remove_suffix(1);
  }
  std::uint64_t count = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc() || end != digits.data() + digits.size() ||
      count > std::numeric_limits<std::uint64_t>::max() >> shift)
    fail("{}: \"{}\" is not a size; give bytes or a number with K, M or G, such as 512M", what,
         text);
  return count << shift;
}

Settings user_settings() {
  Settings settings;
  settings.budget =
      parse_bytes(env(EnvVar::cache_bytes).value_or("1G"), name_of(EnvVar::cache_bytes));
  settings.asked_off = asked_off();
  if (settings.asked_off) {
    settings.why_off = "FUSELINE_CACHE=off";
    return settings;
  }
  settings.folder = user_folder();
  if (settings.folder.empty()) settings.why_off = "HOME is not set; set it or FUSELINE_CACHE_DIR";
  return settings;
}

}  // namespace fuseline::cache
