// The files that `fuseline kernel` reads and writes.
#pragma once

#include <string>

#include "fuseline/graph.hpp"

namespace fuseline::cli {

// Errors name the file.
Graph read_graph(const std::string& path);
std::string read_kernel_text(const std::string& path);
// Error where the file exists; nothing is ever overwritten.
void write_new_file(const std::string& path, const std::string& text);

}  // namespace fuseline::cli
