// `fuseline bench --after K.cu -- mask PICTURE`: a kernel that somebody wrote against ours.
#pragma once

#include "cli/bench_options.hpp"

namespace fuseline::cli {

// Checks the kernels against the pipeline's contract first; one that fails is reported and not
// measured. Without a GPU the check runs on the host simulator, and an Error (device) says that
// there is nothing to time on. The exit code.
int bench_kernels(const BenchOptions& options);

}  // namespace fuseline::cli
