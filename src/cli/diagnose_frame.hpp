// Experiments on the mask pipeline in this process, frame after frame.
#pragma once

#include "cli/diagnose_mask.hpp"
#include "ledger/diagnose_null.hpp"
#include "ledger/roofline.hpp"

namespace fuseline::cli {

struct FrameExperiments {
  NullRun null_run;
  GainRun gain;
};

// Decodes, runs and encodes into a scratch folder for about `seconds`, at least nine blocks. A null
// frame encodes the mask of the last real one, so that the encoder's work is the same.
FrameExperiments measure_frames(const MaskCommand& command, double seconds,
                                const Roofline& roofline);

}  // namespace fuseline::cli
