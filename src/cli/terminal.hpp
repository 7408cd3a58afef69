// What is known of the terminal: whether there is one, its width, whether it takes color.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace fuseline::cli {

bool is_terminal(std::FILE* stream);
int columns(std::FILE* stream);  // 80 where unknown
// A terminal, and the user has not set NO_COLOR.
bool takes_color(std::FILE* stream);

enum class Color { red, green, bold };
// The text in color where the stream takes it.
std::string colored(std::FILE* stream, Color color, std::string_view text);

// "fuseline: error: ..." as it stands on stderr.
std::string error_line(std::string_view message);

// A line on a stream; Error when it cannot be written.
void print_line(std::FILE* stream, std::string_view line);

}  // namespace fuseline::cli
