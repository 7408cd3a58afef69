// A process, its exit and its marks become one sample.
#include "cli/bench_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/env.hpp"
#include "base/fail.hpp"
#include "cli/interrupt.hpp"
#include "ledger/process.hpp"
#include "ledger/run_record.hpp"

namespace fuseline::cli {
namespace {

[[noreturn]] void fail_run(const std::vector<std::string>& words, const ProcessRun& run) {
  constexpr std::size_t most = 300;
  std::string how = run.exit_code > 128 ? fmt::format("was ended by signal {}", run.exit_code - 128)
                                        : fmt::format("failed with exit code {}", run.exit_code);
  std::string said = run.last_error_line.substr(0, most);
  fail("{} {}{}; nothing was measured", command_text(words), how,
       said.empty() ? "" : fmt::format(", saying \"{}\"", said));
}

}  // namespace

BenchRunner::BenchRunner(std::vector<std::string> fuseline_commands, double timeout_seconds,
                         std::string per)
    : fuseline_commands_(std::move(fuseline_commands)),
      timeout_seconds_(timeout_seconds),
      per_(std::move(per)) {
  set_env(EnvVar::stages, stages_.path().string());
}

bool BenchRunner::is_own(const std::vector<std::string>& words) const {
  return std::find(fuseline_commands_.begin(), fuseline_commands_.end(), words.front()) !=
         fuseline_commands_.end();
}

std::vector<std::string> BenchRunner::shown(const std::vector<std::string>& words) const {
  std::vector<std::string> all = words;
  if (is_own(words)) all.insert(all.begin(), "fuseline");
  return all;
}

RunOnce BenchRunner::runs_of(const std::vector<std::string>& words) {
  std::vector<std::string> all = words;
  if (is_own(words)) all.insert(all.begin(), std::filesystem::read_symlink("/proc/self/exe"));
  return [this, all] { return run(all); };
}

RunSample BenchRunner::run(const std::vector<std::string>& words) {
  stages_.reset();
  ProcessRun run = run_process(words, {.timeout_seconds = timeout_seconds_,
                                       .keep_output = false,
                                       .interrupted = [] { return interrupted(); }});
  // A terminal sends Ctrl-C to the command as well; its end is not a failure then.
  stop_if_interrupted();
  if (run.exit_code != 0) fail_run(words, run);
  StageMarks marks = stages_.read(run.end);
  dropped_ += marks.dropped;
  unmatched_ += marks.unmatched;
  open_ += marks.open;
  RunSample sample;
  sample.account = per_.empty() ? close_account(marks.spans, run.begin, run.end)
                                : account_of_median(marks.spans, per_);
  sample.user_seconds = run.user_seconds;
  sample.system_seconds = run.system_seconds;
  sample.peak_bytes = static_cast<double>(run.peak_bytes);
  sample.output_hash = run.output_hash;
  return sample;
}

std::vector<std::string> BenchRunner::warnings() const {
  std::vector<std::string> lines;
  if (dropped_)
    lines.push_back(
        fmt::format("{} marks of stages found no room; their time is in other rows", dropped_));
  if (unmatched_)
    lines.push_back(fmt::format("{} marks of stages ended what was not begun", unmatched_));
  if (open_)
    lines.push_back(fmt::format("{} stages were never ended; they last until the exit", open_));
  return lines;
}

}  // namespace fuseline::cli
