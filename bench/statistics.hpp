// Statistics on numbers from stdin, for the Python side of bench/peers.
#pragma once

#include <string>

namespace fuseline::bench {

// "ratio": lines "NUMERATOR DENOMINATOR", one a block pair; "median": one number a line. Prints
// {"value", "low", "high", "n"}; false for any other name.
bool print_statistic(const std::string& name);

}  // namespace fuseline::bench
