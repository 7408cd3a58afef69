// The one way JSON is written: keys in the order of insertion, valid UTF-8, finite numbers.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace fuseline {

using Json = nlohmann::ordered_json;

// Two spaces of indentation, no newline at the end. NaN and infinities become null, bytes that
// are not UTF-8 (file names may hold any) become U+FFFD.
std::string json_text(const Json& value, int indent = 2);

// Writes the text and a newline; throws Error when the stream does not take them.
void print_json(const Json& value, std::FILE* stream = stdout);

}  // namespace fuseline
