// Tensors into JPEG files, for pictures that experiments make.
#pragma once

#include <filesystem>

#include "fuseline/tensor.hpp"

namespace fuseline {

// Baseline JPEG of a dense u8 [H,W,1] or [H,W,3] at a quality from 1 to 100, colors at half the
// resolution. Throws Error where it cannot be written.
void write_jpeg(const std::filesystem::path& path, const Tensor& pixels, int quality);

}  // namespace fuseline
