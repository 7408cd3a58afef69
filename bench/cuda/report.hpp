// The result of a CUDA benchmark as text for people.
#pragma once

#include "base/json.hpp"

namespace fuseline::bench {

void print_report(const Json& result);
void write_json(const Json& result, const std::string& file);

}  // namespace fuseline::bench
