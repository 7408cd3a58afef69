// Measures the mask pipeline on one picture, unfused against fused.
#pragma once

#include "cli/mask_batch.hpp"
#include "cli/mask_options.hpp"
#include "ledger/account.hpp"

namespace fuseline::cli {

// Writes the mask again and again where the task has one.
Account measure_mask(const MaskSettings& settings, const CompileOptions& compile_options,
                     const MaskTask& task, const BatchOptions& options);

}  // namespace fuseline::cli
