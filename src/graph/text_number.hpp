// Numbers of graph texts: integers in decimal, floats in hex so that every bit survives.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph/scalar.hpp"

namespace fuseline {

// "-3", "true", "0x1.8p+0", "inf", "nan", "nan:7fc00001" (a NaN with other bits than the usual).
std::string element_text(const void* element, DType dtype);
// Writes the element that the text stands for; false if it is no number of the type. Decimal floats
// are rounded to the type.
bool parse_element(std::string_view text, DType dtype, void* element);

std::string float_text(double value);
std::optional<double> parse_float(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace fuseline
