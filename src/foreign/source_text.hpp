// What the text of a foreign kernel says beside its code: the launch that it wants.
#pragma once

#include <cstdint>
#include <string>

#include "foreign/contract.hpp"

namespace fuseline::foreign {

// The line "// fuseline: threads=256 items=16". Without one: these values.
struct LaunchWish {
  int threads_x = 256;
  int threads_y = 0;        // 0: a one-dimensional grid
  int items = 1;            // elements of the space for each thread, along x
  std::int64_t blocks = 0;  // not 0: exactly so many, for loops over the grid
  int align = 1;            // multiple of bytes that every base address must be

  int threads() const { return threads_x * (threads_y ? threads_y : 1); }
};

struct Grid {
  std::int64_t x = 1, y = 1;
  std::int64_t blocks() const { return x * y; }
};

// Throws Error that names the file, the word and what is possible.
LaunchWish read_wish(const std::string& text, const std::string& file);

// The grid over a space of these sizes.
Grid grid_over(const LaunchWish& wish, const Shape& space);

// The text as both compilers take it: includes of headers that only declare CUDA itself or the
// integer types are blanked, since a kernel for NVRTC needs none. Lines keep their numbers.
std::string without_known_includes(const std::string& text);

// The text with comments and literals blanked, lines kept.
std::string code_only(const std::string& text);

// Empty, or why the text lacks the function of the contract: what it defines instead.
std::string missing_function(const std::string& text, const Contract& contract);

// Common typedefs before the text and the check of the signature behind it; messages name `file`.
std::string framed(const std::string& text, const std::string& file, const Contract& contract);

}  // namespace fuseline::foreign
