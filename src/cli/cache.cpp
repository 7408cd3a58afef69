// fuseline cache: the generated code on disk.
#include "cache/store.hpp"

#include <fmt/format.h>

#include <memory>

#include "base/fail.hpp"
#include "base/json.hpp"
#include "cli/cache_text.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/terminal.hpp"

namespace fuseline::cli {

Json cache_json(const cache::Stats& stats) {
  Json folder = nullptr;
  if (!stats.path.empty()) folder = stats.path.string();
  return {{"folder", std::move(folder)},
          {"off", stats.path.empty() ? Json(stats.why_off) : Json(nullptr)},
          {"entries", stats.entries},
          {"bytes", stats.bytes},
          {"budget", stats.budget}};
}

std::string cache_text(const cache::Stats& stats) {
  if (stats.path.empty()) return fmt::format("off ({})", stats.why_off);
  return fmt::format("{}, {} entr{}, {} of {}", stats.path.string(), stats.entries,
                     stats.entries == 1 ? "y" : "ies", bytes_text(stats.bytes),
                     bytes_text(stats.budget));
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::uint64_t kilo = 1024, mega = kilo * kilo, giga = mega * kilo;
  auto value = static_cast<double>(bytes);
  if (bytes >= giga) return fmt::format("{:.1f} GiB", value / giga);
  if (bytes >= mega) return fmt::format("{:.1f} MiB", value / mega);
  if (bytes >= kilo) return fmt::format("{:.1f} KiB", value / kilo);
  return fmt::format("{} bytes", bytes);
}

namespace {

int print_stats(bool json) {
  cache::Stats stats = cache::Store::user().stats(), choices = cache::Store::choices().stats();
  if (json) {
    Json both = cache_json(stats);
    both["choices"] = cache_json(choices);
    print_json(both);
  } else {
    print_line(stdout, "cache: " + cache_text(stats));
    print_line(stdout, "choices: " + cache_text(choices));
  }
  return exit_fine;
}

int clear(bool json) {
  std::uint64_t freed = cache::Store::user().clear() + cache::Store::choices().clear();
  if (json)
    print_json({{"freed", freed}});
  else
    print_line(stdout, fmt::format("cache: {} freed", bytes_text(freed)));
  return exit_fine;
}

}  // namespace

void add_cache(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("cache", "The generated code kept on disk");
  command->footer(
      "Examples:\n  fuseline cache stats\n  fuseline cache clear\n"
      "FUSELINE_CACHE_DIR, FUSELINE_CACHE_BYTES and FUSELINE_CACHE=off set where it is,\n"
      "how large it grows and whether it is used.");
  auto json = std::make_shared<bool>(false);
  auto add = [&](const char* name, const char* help, int (*action)(bool)) {
    CLI::App* sub = command->add_subcommand(name, help);
    sub->add_flag("--json", *json, "Print the result as JSON");
    sub->callback([json, action, &run] { run = [json, action] { return action(*json); }; });
  };
  add("stats", "Folder, entries and size", print_stats);
  add("clear", "Remove all entries", clear);
  command->callback([command, &run] {
    if (command->get_subcommands().empty())
      run = []() -> int { fail("cache: say what to do: stats or clear"); };
  });
}

}  // namespace fuseline::cli
