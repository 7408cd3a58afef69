// The smallest set of nodes that must stay in fp32 for a check to pass.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fuseline::cli {

// Whether the check passes while these nodes are kept.
using PassesWith = std::function<bool(const std::vector<std::string>&)>;

// A set none of whose members can be left out, found by halving (Zeller and Hildebrandt,
// "Simplifying and Isolating Failure-Inducing Input", 2002). `nodes` must pass as a whole; their
// order is that of the model, so neighbors are left out together.
std::vector<std::string> smallest_kept(std::vector<std::string> nodes, const PassesWith& passes);

}  // namespace fuseline::cli
