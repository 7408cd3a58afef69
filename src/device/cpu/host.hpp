// The machine as the CPU back end sees it: processors, threads, what identifies the processor.
#pragma once

#include <string>

namespace fuseline::cpu {

// Processors that this process may use: its affinity, limited by the quota of its control group.
int allowed_processors();

// The one budget of threads of the process: FUSELINE_NUM_THREADS, else OMP_NUM_THREADS, else
// allowed_processors(). Fails where a variable is not a positive number.
int thread_budget();

// All that decides which instructions the processor has, as text for keys of the cache.
std::string processor_identity();

}  // namespace fuseline::cpu
