// Rank tests: whether two samples of times differ, and the correction for asking several times.
#pragma once

#include <span>
#include <vector>

namespace fuseline {

// Every function throws Error for an empty sample and for one with NaN in it.

// Two-sided Mann-Whitney U of unpaired samples: mid-ranks for ties, normal approximation with tie
// and continuity correction (scipy.stats.mannwhitneyu, method "asymptotic").
struct MannWhitney {
  double u = 0;  // of the first sample
  double p = 1;
};
MannWhitney mann_whitney(std::span<const double> a, std::span<const double> b);

// Two-sided p of Wilcoxon's signed-rank test that paired differences lie around zero. Zeros are
// dropped. Exact up to 50 differences without ties, else the normal approximation with tie
// correction (scipy.stats.wilcoxon, method "exact" and "asymptotic").
double wilcoxon_p(std::span<const double> differences);

// Holm's step-down adjustment: p values that may each be compared with the level of all together.
// S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
// Statistics 6 (1979).
std::vector<double> holm(std::span<const double> p_values);

}  // namespace fuseline
