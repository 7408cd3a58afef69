// Names and sizes of the element types.
#include "fuseline/dtype.hpp"

#include <array>

#include "base/fail.hpp"

namespace fuseline {
namespace {

struct Row {
  std::string_view name;
  std::size_t size;
};
constexpr std::array<Row, dtype_count> rows = {{{"bool", 1},
                                                {"u8", 1},
                                                {"i8", 1},
                                                {"u16", 2},
                                                {"i16", 2},
                                                {"u32", 4},
                                                {"i32", 4},
                                                {"u64", 8},
                                                {"i64", 8},
                                                {"f16", 2},
                                                {"bf16", 2},
                                                {"f32", 4},
                                                {"f64", 8}}};

}  // namespace

std::size_t size_of(DType type) { return rows[static_cast<std::size_t>(type)].size; }
std::string_view name_of(DType type) { return rows[static_cast<std::size_t>(type)].name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace fuseline
