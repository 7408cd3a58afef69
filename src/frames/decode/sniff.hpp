// Which picture format some bytes begin, told by their signature alone.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace fuseline {

// Bytes that settle every signature.
inline constexpr std::size_t sniff_bytes = 32;

// "JPEG", "PNG", or the name of a known format that is not read; empty for anything else.
std::string_view sniff(std::span<const std::uint8_t> beginning);

}  // namespace fuseline
