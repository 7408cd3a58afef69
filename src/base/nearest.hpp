// What a mistyped word may have meant.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fuseline {

// Edits from one word to the other: insert, remove, replace, swap neighbors.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that the word means most likely, if one is near.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

}  // namespace fuseline
