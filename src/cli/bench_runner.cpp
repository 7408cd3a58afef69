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
#include "nvtx/reader.hpp"

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
  if (auto other = env(EnvVar::nvtx_injection))
    nvtx_note_ = fmt::format("NVTX ranges went to {}, whose cost is in the times", *other);
  else if (nvtx_library_ = nvtx::reader_library(); nvtx_library_.empty())
    nvtx_note_ = "NVTX ranges were not read: libfuseline_nvtx.so is missing in this installation";
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
  bool own = is_own(words);
  if (own) all.insert(all.begin(), std::filesystem::read_symlink("/proc/self/exe"));
  return [this, all, own] { return run(all, own); };
}

RunSample BenchRunner::run(const std::vector<std::string>& words, bool own) {
  stages_.reset();
  ProcessOptions options{.timeout_seconds = timeout_seconds_,
                         .keep_output = false,
                         .interrupted = [] { return interrupted(); },
                         .look = [this](pid_t process) { watch_.look(process); }};
  // Our own commands mark their stages; ranges beside them would only cost.
  if (!own && !nvtx_library_.empty())
    options.environment = {{std::string(name_of(EnvVar::nvtx_injection)), nvtx_library_}};
  watch_.begin();
  ProcessRun run = run_process(words, options);
  // A terminal sends Ctrl-C to the command as well; its end is not a failure then.
  stop_if_interrupted();
  if (run.exit_code != 0) fail_run(words, run);
  StageMarks marks = stages_.read(run.end);
  dropped_ += marks.dropped;
  unmatched_ += marks.unmatched;
  open_ += marks.open;
  (marks.ranges_are_stages ? range_stages_ : ranges_left_out_) += marks.ranges;
  RunSample sample;
  sample.account = per_.empty() ? close_account(marks.spans, run.begin, run.end)
                                : account_of_median(marks.spans, per_);
  sample.user_seconds = run.user_seconds;
  sample.system_seconds = run.system_seconds;
  sample.peak_bytes = watch_.peak_bytes(static_cast<double>(run.peak_bytes));
  sample.output_hash = run.output_hash;
  sample.seen = watch_.end();
  sample.begin = run.begin;
  sample.spans = std::move(marks.spans);
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
  if (ranges_left_out_)
    lines.push_back(fmt::format("{} NVTX ranges were left out: the program marks its stages itself",
                                ranges_left_out_));
  if (!nvtx_note_.empty()) lines.push_back(nvtx_note_);
  return lines;
}

}  // namespace fuseline::cli
