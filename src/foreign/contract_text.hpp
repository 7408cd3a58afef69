// The contract as text, as JSON, and as a text to start from.
#pragma once

#include <string>

#include "base/json.hpp"
#include "foreign/contract.hpp"

namespace fuseline::foreign {

// In 80 columns where names allow.
std::string text_of(const Contract& contract);
Json json_of(const Contract& contract);
// A kernel that compiles, with its guard against the tail, and that computes nothing yet.
std::string skeleton_of(const Contract& contract, const std::string& pipeline);

}  // namespace fuseline::foreign
