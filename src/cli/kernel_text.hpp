// One step of a Program, as explain shows it.
#pragma once

#include "base/json.hpp"
#include "fuseline/program.hpp"

namespace fuseline::cli {

// `sources`: also the Loop IR and the code.
void print_step(const KernelReport& step, bool sources);
Json step_json(const KernelReport& step, bool sources);

// "--- title" and the text below it; nothing for an empty text.
void print_section(std::string_view title, const std::string& text);

}  // namespace fuseline::cli
