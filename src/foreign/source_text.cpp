// Reading the text of a foreign kernel.
#include "foreign/source_text.hpp"

#include <algorithm>
#include <charconv>
#include <regex>
#include <sstream>

#include "base/fail.hpp"

namespace fuseline::foreign {
namespace {

struct WishReader {
  const std::string& file;
  int line;

  std::int64_t number(const std::string& word, std::string_view digits, std::int64_t low,
                      std::int64_t high) const {
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < low || value > high)
      fail("{}:{}: \"{}\": a whole number from {} to {} is expected", file, line, word, low, high);
    return value;
  }

  void threads(LaunchWish& wish, const std::string& word, std::string_view value) const {
    std::size_t cross = value.find('x');
    wish.threads_x = static_cast<int>(number(word, value.substr(0, cross), 1, 1024));
    if (cross != value.npos)
      wish.threads_y = static_cast<int>(number(word, value.substr(cross + 1), 1, 1024));
    if (wish.threads() > 1024 || wish.threads() % 32 != 0)
      fail("{}:{}: \"{}\": a block has a multiple of 32 threads, at most 1024", file, line, word);
  }

  void read(LaunchWish& wish, const std::string& word) const {
    std::size_t equals = word.find('=');
    std::string key = word.substr(0, equals);
    std::string_view value;
    if (equals != word.npos) value = std::string_view(word).substr(equals + 1);
    if (key == "threads")
      threads(wish, word, value);
    else if (key == "items")
      wish.items = static_cast<int>(number(word, value, 1, 1 << 20));
    else if (key == "blocks")
      wish.blocks = number(word, value, 1, 1 << 20);
    else if (key == "align")
      wish.align = static_cast<int>(number(word, value, 1, 256));
    else
      fail("{}:{}: \"{}\" is no wish; use threads=N, threads=XxY, items=N, blocks=N, align=N", file,
           line, word);
    if (wish.align & (wish.align - 1))
      fail("{}:{}: \"{}\": an alignment is a power of two", file, line, word);
  }
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

LaunchWish read_wish(const std::string& text, const std::string& file) {
  constexpr std::string_view mark = "// fuseline:";
  LaunchWish wish;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::size_t at = line.find(mark);
    if (at == line.npos || line.find_first_not_of(" \t") != at) continue;
    std::istringstream words(line.substr(at + mark.size()));
    for (std::string word; words >> word;) WishReader{file, number}.read(wish, word);
  }
  return wish;
}

Grid grid_over(const LaunchWish& wish, const Shape& space) {
  std::int64_t all = element_count(space);
  if (wish.blocks) return {wish.blocks, 1};
  if (!wish.threads_y)
    return {std::max<std::int64_t>(
                1, ceil_div(all, static_cast<std::int64_t>(wish.threads_x) * wish.items)),
            1};
  std::int64_t width = space.empty() ? 1 : space.back();
  std::int64_t height = width ? all / width : 0;
  std::int64_t step = static_cast<std::int64_t>(wish.threads_x) * wish.items;
  return {std::max<std::int64_t>(1, ceil_div(width, step)),
          std::max<std::int64_t>(1, ceil_div(height, wish.threads_y))};
}

std::string without_known_includes(const std::string& text) {
  static const std::regex known(
      "^\\s*#\\s*include\\s*[<\"](cuda_runtime\\.h|cuda_runtime_api\\.h|cuda\\.h|stdint\\.h|"
      "cstdint|stddef\\.h|cstddef|device_launch_parameters\\.h|device_functions\\.h|"
      "vector_types\\.h|math\\.h|cmath)[>\"].*$");
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);)
    out += (std::regex_match(line, known) ? std::string() : line) + "\n";
  return out;
}

std::string code_only(const std::string& text) {
  std::string out = text;
  auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, out.size()); ++i)
      if (out[i] != '\n') out[i] = ' ';
    return to;
  };
  for (std::size_t i = 0; i < out.size();) {
    if (out.compare(i, 2, "//") == 0) {
      i = blank(i, std::min(out.find('\n', i), out.size()));
    } else if (out.compare(i, 2, "/*") == 0) {
      std::size_t end = out.find("*/", i + 2);
      i = blank(i, end == out.npos ? out.size() : end + 2);
    } else if (out[i] == '"' && !(out.compare(i, 3, "\"C\"") == 0)) {
      std::size_t end = i + 1;
      while (end < out.size() && out[end] != '"' && out[end] != '\n')
        end += out[end] == '\\' ? 2 : 1;
      i = blank(i, end + 1);
    } else {
      i += out[i] == '"' ? 3 : 1;
    }
  }
  return out;
}

std::string missing_function(const std::string& text, const Contract& contract) {
  static const std::regex kernel("__global__[^;{}()]*(?:\\([^()]*\\)[^;{}()]*)?\\b(\\w+)\\s*\\(");
  std::string code = code_only(text), found;
  for (std::sregex_iterator at(code.begin(), code.end(), kernel), end; at != end; ++at) {
    std::string name = (*at)[1];
    if (name == contract.kernel) return {};
    if (name != "__launch_bounds__") found += (found.empty() ? "" : ", ") + name;
  }
  // A macro may make the declaration: then the compiler decides.
  if (std::regex_search(code, std::regex("\\b" + contract.kernel + "\\b"))) return {};
  return fmt::format("has no function {}; {}", contract.kernel,
                     found.empty() ? "it defines no kernel" : "it defines " + found);
}

std::string framed(const std::string& text, const std::string& file, const Contract& contract) {
  std::string quoted;
  for (char c : file) quoted += c == '"' || c == '\\' || c == '\n' ? '_' : c;
  return fmt::format(
      "typedef signed char int8_t; typedef unsigned char uint8_t; typedef short int16_t;\n"
      "typedef unsigned short uint16_t; typedef int int32_t; typedef unsigned int uint32_t;\n"
      "typedef long int64_t; typedef unsigned long uint64_t;\n"
      "#line 1 \"{0}\"\n{1}\n#line 1 \"the contract\"\n"
      "template <class A, class B> struct fuseline_same {{ static const bool value = false; }};\n"
      "template <class A> struct fuseline_same<A, A> {{ static const bool value = true; }};\n"
      "static_assert(fuseline_same<decltype({2}), {3}>::value,\n"
      "              \"{2} must be of the type {3}\");\n",
      quoted, without_known_includes(text), contract.kernel, function_type(contract));
}

}  // namespace fuseline::foreign
