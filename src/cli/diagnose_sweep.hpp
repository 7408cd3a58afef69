// The user's picture in three sizes, and the command run on each.
#pragma once

#include "cli/bench_runner.hpp"
#include "cli/diagnose_mask.hpp"
#include "ledger/diagnose_report.hpp"

namespace fuseline::cli {

// Throws Error for a picture that is too small to be made smaller.
Sweep measure_sweep(const MaskCommand& command, BenchRunner& runner, const BenchPlan& plan);

}  // namespace fuseline::cli
