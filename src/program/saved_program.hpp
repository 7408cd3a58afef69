// The file of a saved Program: a header in JSON, then tensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fuseline/program.hpp"

namespace fuseline {

// What a file holds. Tensors are views of the file's bytes.
struct SavedProgram {
  std::string device;  // kind of device that the passes ran for: "cpu", "cuda"
  std::int64_t channel_block = 0;  // of the blocked convolutions inside; 0: there are none
  CompileOptions options;
  Graph graph;
  SavedNotes notes;
};

inline constexpr std::uint32_t saved_format = 1;

void write_saved(const std::string& path, const SavedProgram& program);
// Error, naming the file and what is wrong, for anything but a complete file of a known version.
SavedProgram read_saved(const std::string& path);

std::string_view name_of(Precision precision);

}  // namespace fuseline
