// What `fuseline kernel check` says.
#pragma once

#include <string>

#include "base/json.hpp"
#include "foreign/check.hpp"

namespace fuseline::cli {

void print_report(const foreign::Report& report, const foreign::Contract& contract,
                  const std::string& file);
Json report_json(const foreign::Report& report, const foreign::Contract& contract,
                 const std::string& file);

}  // namespace fuseline::cli
