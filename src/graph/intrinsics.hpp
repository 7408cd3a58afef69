// Enumeration and properties of the scalar intrinsics (see intrinsics.def).
#pragma once

#include <cstdint>
#include <string_view>

namespace fuseline {

enum class Intrinsic : std::uint8_t {
#define FUSELINE_INTRINSIC(name, arity, cls, expr) name,
#include "graph/intrinsics.def"
#undef FUSELINE_INTRINSIC
};

enum class IntrinsicClass : std::uint8_t { arith, real, logic, cmp };

struct IntrinsicInfo {
  std::string_view name;
  int arity;
  IntrinsicClass cls;
};

inline constexpr IntrinsicInfo intrinsic_table[] = {
#define FUSELINE_INTRINSIC(name, arity, cls, expr) {#name, arity, IntrinsicClass::cls},
#include "graph/intrinsics.def"
#undef FUSELINE_INTRINSIC
};
inline constexpr int intrinsic_count = sizeof(intrinsic_table) / sizeof(intrinsic_table[0]);

constexpr const IntrinsicInfo& info(Intrinsic f) {
  return intrinsic_table[static_cast<std::size_t>(f)];
}

}  // namespace fuseline
