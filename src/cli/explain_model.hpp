// explain MODEL: what became of a model.
#pragma once

#include "cli/model_inputs.hpp"

namespace fuseline::cli {

// `kernels`: with the code of every kernel.
int explain_model(const ModelOptions& options, bool kernels, bool json);

}  // namespace fuseline::cli
