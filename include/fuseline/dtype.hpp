// Element types of tensors and of scalar arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>


namespace fuseline {

// Numeric values are stable: they are written to caches and graph texts.
enum class DType : std::uint8_t {
  bool_ = 0,  // one byte, 0 or 1
  u8 = 1,
  i8 = 2,
  u16 = 3,
  i16 = 4,
  u32 = 5,
  i32 = 6,
  u64 = 7,
  i64 = 8,
  f16 = 9,
  bf16 = 10,
  f32 = 11,
  f64 = 12,
};
inline constexpr int dtype_count = 13;

// Bytes of one element.
std::size_t size_of(DType type);
// "u8", "f32", "bool", ...
std::string_view name_of(DType type);
std::optional<DType> dtype_from_name(std::string_view name);

constexpr bool is_float(DType t) { return t >= DType::f16; }
constexpr bool is_bool(DType t) { return t == DType::bool_; }
constexpr bool is_integer(DType t) { return t > DType::bool_ && t < DType::f16; }
constexpr bool is_signed_integer(DType t) {
  return t == DType::i8 || t == DType::i16 || t == DType::i32 || t == DType::i64;
}
constexpr bool is_unsigned_integer(DType t) { return is_integer(t) && !is_signed_integer(t); }

template <class T>
constexpr DType dtype_of();
template <> constexpr DType dtype_of<bool>() { return DType::bool_; }
template <> constexpr DType dtype_of<std::uint8_t>() { return DType::u8; }
template <> constexpr DType dtype_of<std::int8_t>() { return DType::i8; }
template <> constexpr DType dtype_of<std::uint16_t>() { return DType::u16; }
template <> constexpr DType dtype_of<std::int16_t>() { return DType::i16; }
template <> constexpr DType dtype_of<std::uint32_t>() { return DType::u32; }
template <> constexpr DType dtype_of<std::int32_t>() { return DType::i32; }
template <> constexpr DType dtype_of<std::uint64_t>() { return DType::u64; }
template <> constexpr DType dtype_of<std::int64_t>() { return DType::i64; }
template <> constexpr DType dtype_of<float>() { return DType::f32; }
template <> constexpr DType dtype_of<double>() { return DType::f64; }

}  // namespace fuseline
