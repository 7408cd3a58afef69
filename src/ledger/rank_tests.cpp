// Rank tests.
#include "ledger/rank_tests.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/fail.hpp"

namespace fuseline {
namespace {

void check(std::span<const double> sample, const char* what) {
  if (sample.empty()) fail("{}: the sample is empty; at least one measurement is needed", what);
  for (std::size_t i = 0; i < sample.size(); ++i)
    if (std::isnan(sample[i])) fail("{}: measurement {} of {} is NaN", what, i, sample.size());
}

std::vector<std::size_t> order_of(std::span<const double> sample) {
  std::vector<std::size_t> order(sample.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return sample[a] < sample[b]; });
  return order;
}

struct Ranks {
  std::vector<double> rank;  // from 1; ties share the middle of their ranks
  double tie_sum = 0;        // t^3 - t over the groups of ties
};

Ranks ranks_of(std::span<const double> sample) {
  std::vector<std::size_t> order = order_of(sample);
  Ranks ranks;
  ranks.rank.resize(sample.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && sample[order[end]] == sample[order[begin]]) ++end;
    auto ties = static_cast<double>(end - begin);
    for (std::size_t i = begin; i < end; ++i)
      ranks.rank[order[i]] = static_cast<double>(begin + end + 1) / 2;
    ranks.tie_sum += ties * ties * ties - ties;
  }
  return ranks;
}

double two_sided_normal(double z) { return std::erfc(std::abs(z) / std::sqrt(2.0)); }

// The share of the 2^n sign patterns whose positive ranks sum to at most `sum`.
double signed_rank_below(std::size_t n, std::size_t sum) {
  std::vector<double> share(n * (n + 1) / 2 + 1, 0.0);
  share[0] = 1;
  std::size_t reached = 0;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    reached += rank;
    for (std::size_t s = reached + 1; s-- > 0;)
      share[s] = (share[s] + (s >= rank ? share[s - rank] : 0)) / 2;
  }
  return std::accumulate(share.begin(), share.begin() + static_cast<std::ptrdiff_t>(sum) + 1, 0.0);
}

}  // namespace

MannWhitney mann_whitney(std::span<const double> a, std::span<const double> b) {
  check(a, "Mann-Whitney");
  check(b, "Mann-Whitney");
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  Ranks ranks = ranks_of(all);
  auto n1 = static_cast<double>(a.size()), n2 = static_cast<double>(b.size()), n = n1 + n2;
  double rank_sum = std::accumulate(
      ranks.rank.begin(), ranks.rank.begin() + static_cast<std::ptrdiff_t>(a.size()), 0.0);
  MannWhitney result;
  result.u = rank_sum - n1 * (n1 + 1) / 2;
  double larger = std::max(result.u, n1 * n2 - result.u);
  double deviation = std::sqrt(n1 * n2 / 12 * ((n + 1) - ranks.tie_sum / (n * (n - 1))));
  if (!(deviation > 0)) return result;  // all equal
  double z = (larger - n1 * n2 / 2 - 0.5) / deviation;
  result.p = std::min(1.0, z < 0 ? 2 - two_sided_normal(z) : two_sided_normal(z));
  return result;
}

double wilcoxon_p(std::span<const double> differences) {
  constexpr std::size_t most_exact = 50;
  check(differences, "Wilcoxon");
  std::vector<double> sizes, signs;
  for (double d : differences)
    if (d != 0) {
      sizes.push_back(std::abs(d));
      signs.push_back(d);
    }
  if (sizes.empty()) return 1;
  Ranks ranks = ranks_of(sizes);
  double positive = 0;
  for (std::size_t i = 0; i < signs.size(); ++i)
    if (signs[i] > 0) positive += ranks.rank[i];
  auto n = static_cast<double>(sizes.size());
  double smaller = std::min(positive, n * (n + 1) / 2 - positive);
  if (sizes.size() <= most_exact && ranks.tie_sum == 0 && sizes.size() == differences.size())
    return std::min(1.0, 2 * signed_rank_below(sizes.size(), static_cast<std::size_t>(smaller)));
  double deviation = std::sqrt(n * (n + 1) * (2 * n + 1) / 24 - ranks.tie_sum / 48);
  return deviation > 0 ? two_sided_normal((positive - n * (n + 1) / 4) / deviation) : 1;
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order = order_of(p_values);
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    double p = std::min(1.0, static_cast<double>(order.size() - i) * p_values[order[i]]);
    adjusted[order[i]] = largest = std::max(largest, p);
  }
  return adjusted;
}

}  // namespace fuseline
