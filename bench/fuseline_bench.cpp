// Our side of the side-by-side benchmarks on a CPU, and the interval of their ratios.
#include <algorithm>
#include <cstdio>

#include "base/fail.hpp"
#include "bench_case.hpp"
#include "statistics.hpp"

namespace fuseline::bench {
namespace {

void run_command(const std::string& command, const Arguments& arguments) {
  if (command == "mask") return serve(*make_mask_case(arguments));
  if (command == "chain") return serve(*make_chain_case(arguments));
  if (command == "model") return serve(*make_model_case(arguments));
  if (command == "jpeg") return serve(*make_jpeg_case(arguments));
  if (command == "compile") return print_compile_times(arguments);
  if (command == "verdicts") return print_verdicts(arguments);
  if (print_statistic(command)) return;
  fail("'{}' is not one of mask, chain, model, jpeg, compile, verdicts, ratio, median", command);
}

}  // namespace
}  // namespace fuseline::bench

int main(int argc, char** argv) {
  std::string command = argc > 1 ? argv[1] : "";
  try {
    fuseline::bench::run_command(command, {argv + std::min(argc, 2), argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuseline_bench: %s\n", error.what());
    return 1;
  }
}
