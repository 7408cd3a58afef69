// Eight bytes at a time, in the same order on every machine.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace fuseline {

inline std::uint64_t load_little(const std::uint8_t* from) {
  std::uint64_t value = 0;
  if constexpr (std::endian::native == std::endian::little)
    std::memcpy(&value, from, 8);
  else
    for (int i = 0; i < 8; ++i) value |= static_cast<std::uint64_t>(from[i]) << (8 * i);
  return value;
}

inline void store_little(std::uint8_t* to, std::uint64_t value) {
  if constexpr (std::endian::native == std::endian::little)
    std::memcpy(to, &value, 8);
  else
    for (int i = 0; i < 8; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

// The top bit of every byte that is not zero; all other bits clear.
inline std::uint64_t nonzero_tops(std::uint64_t word) {
  constexpr std::uint64_t low_sevens = 0x7f7f7f7f7f7f7f7f;
  return (((word & low_sevens) + low_sevens) | word) & ~low_sevens;
}

// One bit a byte, set where it is not zero; byte 0 is bit 0. The factor moves each byte's bit to
// a place of its own in the highest byte.
inline std::uint8_t nonzero_bytes(std::uint64_t word) {
  return static_cast<std::uint8_t>((nonzero_tops(word) >> 7) * 0x0102040810204080 >> 56);
}

// The same with byte 0 in bit 7, the order of a PNG's bits.
inline std::uint8_t nonzero_bytes_reversed(std::uint64_t word) {
  return static_cast<std::uint8_t>((nonzero_tops(word) >> 7) * 0x8040201008040201 >> 56);
}

}  // namespace fuseline
