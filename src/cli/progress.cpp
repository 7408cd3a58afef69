// The progress bar.
#include "cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal.hpp"

namespace fuseline::cli {

using std::chrono::duration;
using std::chrono::milliseconds;

Progress::Progress(std::string unit, std::size_t total)
    : unit_(std::move(unit)), total_(total), terminal_(is_terminal(stderr)) {}

Progress::~Progress() { clear(); }

void Progress::advance() {
  ++done_;
  show();
}

void Progress::print(std::FILE* stream, std::string_view line) {
  clear();
  print_line(stream, line);
  if (!terminal_) return;
  std::fflush(stream);
  show();
}

void Progress::show() {
  // Short work shows nothing, and a pipe is not flooded.
  constexpr milliseconds terminal_pause{100}, pipe_pause{5000};
  auto now = Clock::now();
  if (total_ < 2 || done_ >= total_ || now - shown_ < (terminal_ ? terminal_pause : pipe_pause))
    return;
  shown_ = now;
  if (terminal_)
    draw();
  else
    fmt::print(stderr, "fuseline: {} of {} {}\n", done_, total_, unit_);
}

void Progress::draw() {
  double seconds = duration<double>(Clock::now() - start_).count();
  double left = seconds / static_cast<double>(std::max<std::size_t>(done_, 1)) *
                static_cast<double>(total_ - done_);
  std::string text = fmt::format(" {}/{} {}, {:.0f} s left", done_, total_, unit_, left);
  int room = std::clamp(columns(stderr) - static_cast<int>(text.size()) - 3, 0, 40);
  auto full = static_cast<std::size_t>(room) * done_ / total_;
  std::string bar =
      std::string(full, '#') + std::string(static_cast<std::size_t>(room) - full, '.');
  fmt::print(stderr, "\r\033[K[{}]{}", colored(stderr, Color::green, bar), text);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace fuseline::cli
