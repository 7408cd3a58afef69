// A cursor in one line of a graph text; every refusal names the line.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "base/fail.hpp"

namespace fuseline {

inline bool is_space(char c) { return c == ' ' || c == '\t'; }

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && (is_space(text.back()) || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

inline std::string shortened(std::string_view text) {
  constexpr std::size_t limit = 40;
  return text.size() <= limit ? std::string(text) : std::string(text.substr(0, limit)) + "...";
}

// A cursor in one line.
class Line {
 public:
  Line(std::string_view text, int number) : text_(text), number_(number) {}

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail("graph text, line {}: {}", number_, fmt::format(format, std::forward<Args>(args)...));
  }
  // Runs what may throw an Error without a place, and adds the place.
  template <class Action>
  auto placed(Action&& action) const {
    try {
      return action();
    } catch (const Error& error) {
      refuse("{}", error.what());
    }
  }

  void skip() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool at_end() {
    skip();
    return at_ == text_.size();
  }
  bool take(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool next_is(char c) {
    skip();
    return at_ < text_.size() && text_[at_] == c;
  }
  void expect(char c) {
    if (!take(c)) refuse("'{}' expected{}", c, here());
  }
  // Up to the next space or one of `stops`.
  std::string_view word(std::string_view stops) {
    skip();
    std::size_t start = at_;
    while (at_ < text_.size() && !is_space(text_[at_]) && stops.find(text_[at_]) == stops.npos)
      ++at_;
    return text_.substr(start, at_ - start);
  }
  // The comma-separated pieces up to the closing bracket that matches an opened one.
  std::vector<std::string_view> pieces(char close) {
    std::vector<std::string_view> result;
    int depth = 0;
    std::size_t start = at_;
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (depth == 0 && (c == close || c == ',')) {
        std::string_view piece = trimmed(text_.substr(start, at_ - start));
        start = at_ + 1;
        if (c == close && piece.empty() && result.empty()) break;
        if (piece.empty()) refuse("an entry is empty before '{}'", c);
        result.push_back(piece);
        if (c == close) break;
      }
      if (c == '(' || c == '[') ++depth;
      if (c == ')' || c == ']') --depth;
    }
    if (at_ == text_.size()) refuse("'{}' is missing", close);
    ++at_;
    return result;
  }
  std::string quoted();
  std::string here() const {
    return at_ == text_.size() ? " at the end" : " before \"" + shortened(text_.substr(at_)) + "\"";
  }

 private:
  std::string_view text_;
  int number_;
  std::size_t at_ = 0;
};

inline std::string Line::quoted() {
  expect('"');
  std::string result;
  while (at_ < text_.size() && text_[at_] != '"') {
    char c = text_[at_++];
    if (c != '\\') {
      result += c;
      continue;
    }
    char kind = at_ < text_.size() ? text_[at_++] : '\0';
    if (kind == '"' || kind == '\\') {
      result += kind;
      continue;
    }
    unsigned byte = 0;
    const char* first = text_.data() + at_;
    bool room = kind == 'x' && at_ + 2 <= text_.size();
    if (!room || std::from_chars(first, first + 2, byte, 16).ptr != first + 2)
      refuse("unknown escape in a quoted text; use \\\", \\\\ or \\xNN");
    at_ += 2;
    result += static_cast<char>(byte);
  }
  if (!take('"')) refuse("a quoted text does not end");
  return result;
}

}  // namespace fuseline
