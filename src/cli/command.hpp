// Commands: each file adds one to the parser and says what runs when it is chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace fuseline::cli {

// Returns the exit code; throws Error and InternalError.
using Run = std::function<int()>;

void add_mask(CLI::App& program, Run& run);
void add_info(CLI::App& program, Run& run);
void add_explain(CLI::App& program, Run& run);
void add_cache(CLI::App& program, Run& run);
void add_kernel(CLI::App& program, Run& run);
void add_run(CLI::App& program, Run& run);
void add_inspect(CLI::App& program, Run& run);
void add_verify(CLI::App& program, Run& run);
void add_compile(CLI::App& program, Run& run);
void add_bench(CLI::App& program, Run& run);
void add_diagnose(CLI::App& program, Run& run);
void add_compare(CLI::App& program, Run& run);
void add_ledger(CLI::App& program, Run& run);

}  // namespace fuseline::cli
