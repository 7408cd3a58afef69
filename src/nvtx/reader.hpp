// Where the library is that lets a measured program tell its NVTX ranges.
#pragma once

#include <string>

namespace fuseline::nvtx {

// The path of libfuseline_nvtx.so, which lies beside libfuseline.so; empty where it is missing.
std::string reader_library();

}  // namespace fuseline::nvtx
