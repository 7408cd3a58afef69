// Terminal queries and colored text.
#include "cli/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/env.hpp"
#include "base/fail.hpp"

namespace fuseline::cli {

bool is_terminal(std::FILE* stream) { return ::isatty(::fileno(stream)) == 1; }

int columns(std::FILE* stream) {
  constexpr int usual = 80;
  winsize size{};
  bool known = ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : usual;
}

bool takes_color(std::FILE* stream) { return is_terminal(stream) && !env(EnvVar::no_color); }

std::string colored(std::FILE* stream, Color color, std::string_view text) {
  if (!takes_color(stream)) return std::string(text);
  int code = color == Color::red ? 31 : color == Color::green ? 32 : 1;
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

std::string error_line(std::string_view message) {
  return fmt::format("fuseline: {} {}", colored(stderr, Color::red, "error:"), message);
}

void print_line(std::FILE* stream, std::string_view line) {
  bool written = std::fwrite(line.data(), 1, line.size(), stream) == line.size() &&
                 std::fputc('\n', stream) != EOF;
  if (!written) fail("the output could not be written: {}", std::strerror(errno));
}

}  // namespace fuseline::cli
