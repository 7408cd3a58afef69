// The rule of verdicts.
#include "ledger/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/fail.hpp"

namespace fuseline {
namespace {

constexpr std::array<std::string_view, 4> names = {"FASTER", "SLOWER", "SAME", "INCONCLUSIVE"};

}  // namespace

std::string_view name_of(Verdict verdict) { return names[static_cast<std::size_t>(verdict)]; }

Verdict verdict_named(std::string_view name) {
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) fail("\"{}\" is not a verdict", name);
  return static_cast<Verdict>(found - names.begin());
}

Verdict judge(const Estimate& ratio, const VerdictRule& rule, double adjusted_p) {
  // On the scale of logarithms, faster and slower by one factor are equally far from 1.
  double band = std::log1p(rule.threshold);
  double needed = std::max(band, std::log1p(rule.noise_floor));
  double effect = std::log(ratio.value);
  bool excludes_one = ratio.low > 1 || ratio.high < 1;
  if (excludes_one && adjusted_p < rule.level && std::abs(effect) > needed)
    return effect > 0 ? Verdict::faster : Verdict::slower;
  bool within = std::log(ratio.low) >= -band && std::log(ratio.high) <= band;
  return within ? Verdict::same : Verdict::inconclusive;
}

std::optional<double> noise_floor(std::span<const BlockPair> same_side) {
  constexpr std::size_t fewest = 8;
  bool usable = same_side.size() >= fewest &&
                std::all_of(same_side.begin(), same_side.end(), [](const BlockPair& pair) {
                  return pair.numerator > 0 && pair.denominator > 0;
                });
  if (!usable) return std::nullopt;
  Estimate ratio = paired_ratio(same_side);
  return std::expm1(std::max(std::abs(std::log(ratio.low)), std::abs(std::log(ratio.high))));
}

}  // namespace fuseline
