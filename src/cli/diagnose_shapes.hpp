// Sweeps over how kernels are launched: shapes and registers on a GPU, threads on a CPU.
#pragma once

#include "cli/diagnose_subject.hpp"

namespace fuseline::cli {

// Fills shapes and threads, or why one of them means nothing on the device of the command.
void measure_shapes(Diagnosis& diagnosis, Subject& subject, BenchRunner& runner,
                    const BenchPlan& plan);

}  // namespace fuseline::cli
