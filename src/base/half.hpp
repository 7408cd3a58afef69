// f16 and bf16 as bits: conversion with rounding to nearest, ties to even (IEEE 754-2019).
#pragma once

#include <bit>
#include <cstdint>

namespace fuseline {

inline float half_to_float(std::uint16_t h) {
  std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  std::uint32_t magnitude = h & 0x7fffu;
  if (magnitude >= 0x7c00u)  // infinity, NaN (payload kept)
    return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  float value = static_cast<float>(magnitude) * 0x1p-24f;  // subnormal: exact
  return sign ? -value : value;
}

inline float bfloat_to_float(std::uint16_t b) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16);
}

namespace detail {

// Rounds a double to `mantissa` explicit bits with minimum exponent `min_exponent`, in one step.
inline double round_mantissa(double value, int mantissa, int min_exponent) {
  if (value == 0 || value != value) return value;
  std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  if (exponent == 1024) return value;
  int keep = exponent < min_exponent ? min_exponent : exponent;
  // Adding and subtracting 1.5 * 2^(52 + scale) rounds at the wanted position.
  double scale =
      std::bit_cast<double>(static_cast<std::uint64_t>(keep - mantissa + 52 + 1023) << 52);
  double shifted = value + 1.5 * scale;
  return shifted - 1.5 * scale;
}

}  // namespace detail

inline std::uint16_t float_to_bits16(double value, bool brain) {
  std::uint64_t raw = std::bit_cast<std::uint64_t>(value);
  std::uint16_t sign = static_cast<std::uint16_t>((raw >> 48) & 0x8000u);
  std::uint16_t infinity = brain ? 0x7f80u : 0x7c00u;
  if (value != value) return static_cast<std::uint16_t>(sign | infinity | (brain ? 0x40u : 0x200u));
  int mantissa = brain ? 7 : 10;
  int min_exponent = brain ? -126 : -14;
  double limit = brain ? 0x1p128 : 0x1p16;
  double magnitude = value < 0 ? -value : value;
  double rounded =
      magnitude < limit ? detail::round_mantissa(magnitude, mantissa, min_exponent) : limit;
  if (rounded >= limit) return static_cast<std::uint16_t>(sign | infinity);
  if (rounded == 0) return sign;
  std::uint64_t bits = std::bit_cast<std::uint64_t>(rounded);
  int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  if (exponent < min_exponent) {  // subnormal: an integer multiple of the smallest step
    double steps = rounded * (brain ? 0x1p133 : 0x1p24);
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(steps));
  }
  auto fraction = static_cast<std::uint16_t>((bits >> (52 - mantissa)) & ((1u << mantissa) - 1));
  int biased = exponent - min_exponent + 1;
  return static_cast<std::uint16_t>(sign | (biased << mantissa) | fraction);
}

inline std::uint16_t double_to_half(double value) { return float_to_bits16(value, false); }
inline std::uint16_t double_to_bfloat(double value) { return float_to_bits16(value, true); }

}  // namespace fuseline
