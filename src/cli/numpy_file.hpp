// NumPy's files: one array (.npy) or several by name (.npz, a zip archive).
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "fuseline/tensor.hpp"

namespace fuseline::cli {

using NamedArrays = std::vector<std::pair<std::string, Tensor>>;

// Every size that a file tells is checked before it is used. bfloat16 arrays are those of NumPy's
// raw 2-byte kind ("V2").
Tensor read_npy(const std::filesystem::path& path);
NamedArrays read_npz(const std::filesystem::path& path);
// Not compressed; written beside the target and renamed.
void write_npz(const std::filesystem::path& path, const NamedArrays& arrays);

}  // namespace fuseline::cli
