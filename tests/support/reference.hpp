// Plain C++ answers to the scalar operations of Loop IR, one element at a time.
#pragma once

#include "support/loop_case.hpp"

namespace fuseline::test {

// Calls body with a value of the C++ type of a register.
template <class Body>
auto with_type(DType type, Body body) {
  switch (type) {
    case DType::bool_:
      return body(bool{});
    case DType::u8:
      return body(std::uint8_t{});
    case DType::i8:
      return body(std::int8_t{});
    case DType::u16:
      return body(std::uint16_t{});
    case DType::i16:
      return body(std::int16_t{});
    case DType::u32:
      return body(std::uint32_t{});
    case DType::i32:
      return body(std::int32_t{});
    case DType::u64:
      return body(std::uint64_t{});
    case DType::i64:
      return body(std::int64_t{});
    case DType::f32:
      return body(float{});
    default:
      return body(double{});
  }
}

template <class T>
T from_word(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
template <class T>
std::uint64_t to_word(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

// Floats: the table's own expression in double, rounded once more; exact for + - * / and sqrt.
inline double real_reference(Intrinsic fn, double a, double b) {
  switch (fn) {
#define FUSELINE_INTRINSIC(name, arity, cls, expr) \
  case Intrinsic::name:                            \
    return static_cast<double>(expr);
#include "graph/intrinsics.def"
#undef FUSELINE_INTRINSIC
  }
  return b;
}

template <class T>
T integer_reference(Intrinsic fn, T a, T b) {
  auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  switch (fn) {
    case Intrinsic::add:
      return static_cast<T>(ua + ub);
    case Intrinsic::sub:
      return static_cast<T>(ua - ub);
    case Intrinsic::mul:
      return static_cast<T>(ua * ub);
    case Intrinsic::div:
      return static_cast<T>(a / b);
    case Intrinsic::rem:
      return static_cast<T>(a % b);
    case Intrinsic::min:
      return a < b ? a : b;
    case Intrinsic::max:
      return a < b ? b : a;
    case Intrinsic::neg:
      return static_cast<T>(0 - ua);
    case Intrinsic::abs:
      return a < T{0} ? static_cast<T>(0 - ua) : a;
    case Intrinsic::bit_and:
      return static_cast<T>(ua & ub);
    case Intrinsic::bit_or:
      return static_cast<T>(ua | ub);
    case Intrinsic::bit_xor:
      return static_cast<T>(ua ^ ub);
    case Intrinsic::bit_not:
      return static_cast<T>(std::is_same_v<T, bool> ? !ua : ~ua);
    case Intrinsic::shl:
      return static_cast<T>(ua << ub);
    case Intrinsic::shr:
      return static_cast<T>(a >> b);
    default:
      ADD_FAILURE() << "no integer reference";
      return a;
  }
}

inline bool compare_reference(Intrinsic fn, auto a, auto b) {
  switch (fn) {
    case Intrinsic::eq:
      return a == b;
    case Intrinsic::ne:
      return a != b;
    case Intrinsic::lt:
      return a < b;
    default:
      return a <= b;
  }
}

// Bits of fn(a, b); `type` is the operands' type.
inline std::uint64_t reference(Intrinsic fn, DType type, std::uint64_t a, std::uint64_t b) {
  return with_type(type, [&](auto zero) -> std::uint64_t {
    using T = decltype(zero);
    T x = from_word<T>(a), y = from_word<T>(b);
    if (info(fn).cls == IntrinsicClass::cmp) return compare_reference(fn, x, y);
    if constexpr (std::is_floating_point_v<T>)
      return to_word(static_cast<T>(real_reference(fn, x, y)));
    else
      return to_word(integer_reference<T>(fn, x, y));
  });
}

// float -> integer: truncates, goes to the limits, NaN to 0; everything else as C++ has it.
inline std::uint64_t cast_reference(DType from, DType to, std::uint64_t bits) {
  return with_type(from, [&](auto from_zero) {
    auto x = from_word<decltype(from_zero)>(bits);
    return with_type(to, [&](auto to_zero) -> std::uint64_t {
      using From = decltype(x);
      using To = decltype(to_zero);
      if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> &&
                    !std::is_same_v<To, bool>) {
        auto wide = static_cast<long double>(x);
        using Limits = std::numeric_limits<To>;
        if (x != x) return 0;
        if (wide <= static_cast<long double>(Limits::min())) return to_word(Limits::min());
        if (wide >= static_cast<long double>(Limits::max())) return to_word(Limits::max());
      }
      return to_word(static_cast<To>(x));
    });
  });
}

// Whether a float -> integer cast is exact but for the fraction.
inline bool cast_in_range(DType from, DType to, std::uint64_t bits) {
  if (!is_float(from) || !is_integer(to)) return true;
  return with_type(to, [&](auto zero) {
    using Limits = std::numeric_limits<decltype(zero)>;
    long double x = from == DType::f32 ? static_cast<long double>(from_word<float>(bits))
                                       : static_cast<long double>(from_word<double>(bits));
    return x > static_cast<long double>(Limits::min()) - 1 &&
           x < static_cast<long double>(Limits::max()) + 1;
  });
}

}  // namespace fuseline::test
