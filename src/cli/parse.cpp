// Ranges, choices and spelling suggestions.
#include "cli/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/fail.hpp"
#include "base/nearest.hpp"

namespace fuseline::cli {
namespace {

const CLI::App& chosen(const CLI::App& program) {
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

std::string full_name(const CLI::App& program) {
  std::string name = program.get_name();
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    name += " " + app->get_name();
  }
  return name;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  auto meant = nearest(word, candidates);
  return meant ? fmt::format("; did you mean {}?", *meant) : std::string();
}

}  // namespace

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::int64_t parse_integer(std::string_view option, const std::string& text, std::int64_t low,
                           std::int64_t high) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high)
    fail("{}: \"{}\" is not a whole number from {} to {}", option, text, low, high);
  return value;
}

std::string parse_choice(std::string_view option, const std::string& text,
                         const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return text;
  fail("{}: \"{}\" is none of {}{}", option, text, fmt::join(choices, ", "),
       did_you_mean(text, choices));
}

void reject_extras(const CLI::App& program) {
  std::vector<std::string> extras = program.remaining(true);
  std::erase(extras, "--");  // the parser counts the mark itself among them
  if (extras.empty()) return;
  const CLI::App& app = chosen(program);
  // Words behind an option that nobody knows may belong to it.
  auto option = std::find_if(extras.begin(), extras.end(),
                             [](const std::string& extra) { return extra.starts_with("-"); });
  std::string word = option == extras.end() ? extras.front() : *option;
  word = word.substr(0, word.find('='));
  std::string help = fmt::format("`{} --help` lists them", full_name(program));
  if (word.starts_with("-"))
    fail("unknown option {}{} ({})", word, did_you_mean(word, option_names(app)), help);
  std::vector<std::string> commands = command_names(app);
  if (commands.empty()) fail("\"{}\" was not expected; see `{} --help`", word, full_name(program));
  fail("unknown command \"{}\"{} ({})", word, did_you_mean(word, commands), help);
}

std::string usage_message(const CLI::App& program, const CLI::ParseError& error) {
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return fmt::format("{}; see `{} --help`", text, full_name(program));
}

}  // namespace fuseline::cli
