// Elements of constants as text and back, bit for bit.
#include "graph/text_number.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace fuseline {
namespace {

std::uint64_t raw_bits(const void* element, DType dtype) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, size_of(dtype));
  return bits;
}

// The bits that the text "nan" stands for.
std::uint64_t usual_nan(DType dtype) {
  std::uint64_t bits = 0;
  store_number(&bits, dtype, {.d = std::numeric_limits<double>::quiet_NaN()});
  return bits;
}

template <class T>
std::optional<T> whole(std::string_view text, int base = 10) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool parse_nan(std::string_view text, DType dtype, void* element) {
  std::uint64_t bits = usual_nan(dtype);
  if (text != "nan") {
    auto given = whole<std::uint64_t>(text.substr(4), 16);
    if (!text.starts_with("nan:") || !given) return false;
    bits = *given;
    if (size_of(dtype) < 8 && bits >> (8 * size_of(dtype)) != 0) return false;
    Number number = load_number(&bits, dtype);
    if (number.d == number.d) return false;
  }
  std::memcpy(element, &bits, size_of(dtype));
  return true;
}

bool parse_integer_element(std::string_view text, DType dtype, void* element) {
  Number number;
  if (dtype == DType::u64) {
    auto value = whole<std::uint64_t>(text);
    if (!value) return false;
    number.u = *value;
  } else {
    auto value = whole<std::int64_t>(text);
    Range range = full_range(dtype);
    if (!value || *value < range.low || *value > range.high) return false;
    number.i = *value;
  }
  store_number(element, dtype, number);
  return true;
}

}  // namespace

std::string float_text(double value) { return fmt::format("{:a}", value); }

std::optional<std::int64_t> parse_integer(std::string_view text) {
  return whole<std::int64_t>(text);
}

std::optional<double> parse_float(std::string_view text) {
  bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  if (text.empty() || text[0] == '-' || text[0] == '+') return std::nullopt;
  double value = 0;
  auto format = hex ? std::chars_format::hex : std::chars_format::general;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return negative ? -value : value;
}

std::string element_text(const void* element, DType dtype) {
  Number number = load_number(element, dtype);
  if (is_bool(dtype)) return number.u ? "true" : "false";
  if (is_signed_integer(dtype)) return fmt::format("{}", number.i);
  if (!is_float(dtype)) return fmt::format("{}", number.u);
  if (number.d == number.d) return float_text(number.d);
  std::uint64_t bits = raw_bits(element, dtype);
  return bits == usual_nan(dtype) ? "nan" : fmt::format("nan:{:x}", bits);
}

bool parse_element(std::string_view text, DType dtype, void* element) {
  if (is_bool(dtype)) {
    if (text != "true" && text != "false") return false;
    store_number(element, dtype, {.u = text == "true"});
    return true;
  }
  if (!is_float(dtype)) return parse_integer_element(text, dtype, element);
  if (text.starts_with("nan")) return parse_nan(text, dtype, element);
  auto value = parse_float(text);
  if (!value || *value != *value) return false;
  Number number{.d = *value};
  if (std::isfinite(number.d) && !std::isfinite(round_to(number, dtype).d)) return false;
  store_number(element, dtype, number);
  return true;
}

}  // namespace fuseline
