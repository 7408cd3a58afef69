// What kernels that do nothing save, for the commands of `fuseline bench` that are ours.
#pragma once

#include "ledger/run_record.hpp"

namespace fuseline::cli {

// Runs frames of `mask PICTURE...` or `run MODEL` in this process for about `seconds`, real ones and
// null ones in random order. Any other command is not measured, and the answer says why.
NullKernels measure_null_kernels(const std::vector<std::string>& words, double seconds);

}  // namespace fuseline::cli
