// Length-limited Huffman codes, as deflate (RFC 1951) stores and numbers them.
#pragma once

#include <cstdint>
#include <span>

namespace fuseline {

// Lengths of a complete prefix code for the symbols that occur: 1 to `longest`, 0 for the
// others. A single symbol gets length 1. At most 512 symbols, and 2^longest >= their number.
void huffman_lengths(std::span<const std::uint32_t> frequencies, int longest,
                     std::span<std::uint8_t> lengths);

// The canonical codes of these lengths, first bit lowest, as deflate's bit stream wants them.
void huffman_codes(std::span<const std::uint8_t> lengths, std::span<std::uint16_t> codes);

}  // namespace fuseline
