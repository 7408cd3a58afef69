// Logging through spdlog, which no other file includes.
#include "base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <memory>
#include <string>

#include "base/env.hpp"

namespace fuseline {
namespace {

struct LevelName {
  std::string_view name;
  spdlog::level::level_enum level;
};
constexpr std::array<LevelName, 5> level_names = {{{"debug", spdlog::level::debug},
                                                   {"info", spdlog::level::info},
                                                   {"warn", spdlog::level::warn},
                                                   {"error", spdlog::level::err},
                                                   {"off", spdlog::level::off}}};

std::unique_ptr<spdlog::logger> make_logger() {
  auto logger = std::make_unique<spdlog::logger>("fuseline",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("fuseline: %l: %v");
  logger->set_level(spdlog::level::warn);
  std::string wanted = env(EnvVar::log).value_or("warn");
  for (const LevelName& row : level_names)
    if (row.name == wanted) {
      logger->set_level(row.level);
      return logger;
    }
  logger->warn("{}: \"{}\" is not a level; give debug, info, warn, error or off (warn is used)",
               name_of(EnvVar::log), wanted);
  return logger;
}

spdlog::logger& logger() {
  static const std::unique_ptr<spdlog::logger> made = make_logger();
  return *made;
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  return level_names[static_cast<std::size_t>(level)].level;
}

}  // namespace

bool log_enabled(LogLevel level) { return logger().should_log(spdlog_level(level)); }

void log_line(LogLevel level, std::string_view line) { logger().log(spdlog_level(level), line); }

}  // namespace fuseline
