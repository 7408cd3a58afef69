// The null run of `fuseline diagnose`, for a record of `fuseline bench`.
#include "cli/bench_null.hpp"

#include "base/fail.hpp"
#include "cli/diagnose_frame.hpp"

namespace fuseline::cli {

NullKernels measure_null_kernels(const std::vector<std::string>& words, double seconds) {
  try {
    std::unique_ptr<Subject> subject = subject_of(words);
    Diagnosis diagnosis;
    measure_frames(diagnosis, *subject, seconds);
    const NullRun& run = diagnosis.null_run.value.value();
    std::vector<double> saved;
    for (std::size_t i = 0; i < run.real.size(); ++i) saved.push_back(run.real[i] - run.null[i]);
    return {median_interval(saved), {}};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    return {std::nullopt, error.what()};
  }
}

}  // namespace fuseline::cli
