// Benchmarks on a CUDA device; bench/peers runs them.
//
//   cuda_bench mask|chain|launch [--json FILE] [--only TEXT] [--rounds N] [--sample-ms MS]
//   cuda_bench frames [null-]fused|[null-]unfused|none [--rows N] [--frames N]
//   cuda_bench serve-chain FILE ELEMENTS
//   cuda_bench ratio|median
//
// Exit codes: 1 outputs differ, 2 usage, 3 no CUDA device or another thing is missing.
#include <algorithm>
#include <cstdio>

#include "base/fail.hpp"
#include "cuda/benchmarks.hpp"
#include "program/device_registry.hpp"
#include "statistics.hpp"

namespace fuseline::bench {
namespace {

constexpr int exit_differs = 1, exit_usage = 2, exit_missing = 3;
constexpr const char* usage =
    "usage: cuda_bench mask|chain|launch [--json FILE] [--only TEXT] [--rounds N] [--sample-ms "
    "MS]\n"
    "       cuda_bench frames [null-]fused|[null-]unfused|none [--rows N] [--frames N]\n"
    "       cuda_bench serve-chain FILE ELEMENTS\n"
    "       cuda_bench ratio|median < NUMBERS\n";

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

int parse_limited(const std::string& text, const std::string& name) {
  std::int64_t number = parse_integer(text, name.c_str());
  if (number < 1 || number > 10000)
    throw UsageError(fmt::format("{} {}: 1 to 10000 are possible", name, number));
  return static_cast<int>(number);
}

MeasureOptions parse_options(const Arguments& words) {
  MeasureOptions options;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const std::string& name = words[i];
    bool has_value = i + 1 < words.size();
    std::string value = has_value ? words[i + 1] : "";
    if (name == "--json")
      options.json_file = value;
    else if (name == "--only")
      options.only = value;
    else if (name == "--rounds")
      options.rounds = parse_limited(value, name);
    else if (name == "--sample-ms")
      options.sample_ms = parse_limited(value, name);
    else
      throw UsageError(fmt::format("'{}' is not known", name));
    if (!has_value) throw UsageError(fmt::format("{} needs a value", name));
  }
  return options;
}

FrameOptions parse_frames(const Arguments& words) {
  FrameOptions options;
  if (words.empty()) throw UsageError("frames: with which kernels?");
  options.kernels = words[0];
  for (std::size_t i = 1; i < words.size(); i += 2) {
    if (i + 1 == words.size()) throw UsageError(fmt::format("{} needs a value", words[i]));
    int value = parse_limited(words[i + 1], words[i]);
    if (words[i] == "--rows")
      options.rows = value;
    else if (words[i] == "--frames")
      options.frames = value;
    else
      throw UsageError(fmt::format("'{}' is not known", words[i]));
  }
  return options;
}

Device& cuda_device() {
  try {
    return open_device("cuda");
  } catch (const Error& error) {
    fail_device("no CUDA device: {}", error.what());
  }
}

void run_command(const std::string& command, const Arguments& words) {
  if (print_statistic(command)) return;
  if (command == "serve-chain") return serve(*make_half_chain_case(cuda_device(), words));
  if (command == "frames") return run_frames(cuda_device(), parse_frames(words));
  auto* run = command == "mask"     ? run_mask
              : command == "chain"  ? run_chain
              : command == "launch" ? run_launch
                                    : nullptr;
  if (!run) throw UsageError(fmt::format("'{}' is no benchmark", command));
  MeasureOptions options = parse_options(words);
  Session session(cuda_device());
  run(session, options);
}

int report(const char* message, int code) {
  std::fprintf(stderr, "cuda_bench: %s\n", message);
  return code;
}

int run(int argc, char** argv) {
  try {
    run_command(argc > 1 ? argv[1] : "", {argv + std::min(argc, 2), argv + argc});
    return 0;
  } catch (const UsageError& error) {
    std::fputs(usage, stderr);
    return report(error.what(), exit_usage);
  } catch (const Mismatch& error) {
    return report(fmt::format("outputs differ: {}", error.what()).c_str(), exit_differs);
  } catch (const Error& error) {
    bool device = error.kind() == ErrorKind::device;
    return report(error.what(), device ? exit_missing : exit_usage);
  } catch (const std::exception& error) {
    return report(error.what(), exit_missing);
  }
}

}  // namespace
}  // namespace fuseline::bench

int main(int argc, char** argv) { return fuseline::bench::run(argc, argv); }
