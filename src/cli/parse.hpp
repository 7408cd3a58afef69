// Reading the command line: options with their ranges, and the errors of the parser in our words.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fuseline::cli {

// A whole number from `low` to `high`; the error names the option, the value and the range.
std::int64_t parse_integer(std::string_view option, const std::string& text, std::int64_t low,
                           std::int64_t high);
// One of `choices`; the error names the nearest.
std::string parse_choice(std::string_view option, const std::string& text,
                         const std::vector<std::string>& choices);

// The names of all commands directly below.
std::vector<std::string> command_names(const CLI::App& app);

// The words that the parser did not take: an Error that names the first and what was meant.
// Returns if there is none.
void reject_extras(const CLI::App& program);
// The message of a parser's error: one line that says which command's help to read.
std::string usage_message(const CLI::App& program, const CLI::ParseError& error);

}  // namespace fuseline::cli
