// ONNX's own test folders: model.onnx beside test_data_set_N with inputs and expected outputs.
#pragma once

#include <filesystem>
#include <vector>

#include "cli/verify_model.hpp"

namespace fuseline::cli {

// `folder` is a test, or holds tests. A test that cannot be run is a row whose difference says why
// where there are several, an Error where there is one.
std::vector<CheckRow> check_folder(const std::filesystem::path& folder,
                                   const CompileOptions& options, Tolerance tolerance);

}  // namespace fuseline::cli
