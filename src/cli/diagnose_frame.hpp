// Experiments on a pipeline in this process, frame after frame.
#pragma once

#include "cli/diagnose_subject.hpp"

namespace fuseline::cli {

// Fills null_run, timed and gain, in about `seconds` and at least nine blocks. Null frames hand the
// encoder what the last real one left, so that its work is the same.
void measure_frames(Diagnosis& diagnosis, Subject& subject, double seconds);

}  // namespace fuseline::cli
