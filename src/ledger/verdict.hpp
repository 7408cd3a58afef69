// Verdicts: what a measured ratio allows to say, and what the noise forbids.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ledger/stats.hpp"

namespace fuseline {

enum class Verdict { faster, slower, same, inconclusive };

std::string_view name_of(Verdict verdict);  // "FASTER"
// The verdict of this name; Error for any other text.
Verdict verdict_named(std::string_view name);

struct VerdictRule {
  double threshold = 0.02;  // effects up to this share do not matter to the user
  double noise_floor = 0;   // effect that the machine feigns between equal sides (A/A)
  double level = 0.05;      // that the adjusted p must stay below
};

// Of before / after. FASTER or SLOWER only if the interval excludes 1, the adjusted p is below the
// level, and the effect exceeds both the threshold and the noise floor. SAME only if the whole
// interval lies within the threshold. Everything else is INCONCLUSIVE.
Verdict judge(const Estimate& before_over_after, const VerdictRule& rule, double adjusted_p = 0);

// The effect that lies between equal sides: the end of the A/A interval that is further from 1, as
// a share. Pairs hold two runs of one side, measured next to each other. None below eight pairs or
// where a time is not positive.
std::optional<double> noise_floor(std::span<const BlockPair> same_side);

}  // namespace fuseline
