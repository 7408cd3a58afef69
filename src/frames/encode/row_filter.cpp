// Row filters, written as plain loops that compilers vectorize.
#include "frames/encode/row_filter.hpp"

#include <cstdlib>
#include <cstring>

namespace fuseline {
namespace {

// The usual measure of how well a filter did: residuals near zero, counted from both sides.
std::uint64_t cost_of(std::span<const std::uint8_t> residuals) {
  std::uint64_t cost = 0;
  constexpr std::size_t part = 8192;  // 32-bit sums inside, for the vector units
  for (std::size_t i = 0; i < residuals.size(); i += part) {
    std::uint32_t sum = 0;
    for (std::uint8_t r : residuals.subspan(i, std::min(part, residuals.size() - i)))
      sum += static_cast<std::uint32_t>(std::abs(static_cast<std::int8_t>(r)));
    cost += sum;
  }
  return cost;
}

std::uint8_t paeth(int left, int up, int corner) {
  int from_left = std::abs(up - corner);
  int from_up = std::abs(left - corner);
  int from_corner = std::abs(left + up - 2 * corner);
  int nearest = from_up <= from_corner ? up : corner;
  int smaller = from_up <= from_corner ? from_up : from_corner;
  return static_cast<std::uint8_t>(from_left <= smaller ? left : nearest);
}

constexpr std::uint8_t sub_filter = 1, up_filter = 2, paeth_filter = 4;
constexpr std::uint8_t filter_numbers[3] = {sub_filter, up_filter, paeth_filter};

}  // namespace

RowFilter::RowFilter(std::size_t row_bytes, std::size_t step)
    : step_(step), current_(step + row_bytes), above_(step + row_bytes) {
  for (auto& candidate : candidates_) candidate.resize(row_bytes);
}

void RowFilter::filter(std::span<const std::uint8_t> row, std::span<std::uint8_t> to) {
  const std::size_t count = row.size();
  std::memcpy(current_.data() + step_, row.data(), count);
  const std::uint8_t* here = current_.data() + step_;
  const std::uint8_t* left = current_.data();
  const std::uint8_t* up = above_.data() + step_;
  const std::uint8_t* corner = above_.data();
  std::uint8_t* sub = candidates_[0].data();
  std::uint8_t* vertical = candidates_[1].data();
  std::uint8_t* predicted = candidates_[2].data();
  for (std::size_t i = 0; i < count; ++i) sub[i] = static_cast<std::uint8_t>(here[i] - left[i]);
  for (std::size_t i = 0; i < count; ++i) vertical[i] = static_cast<std::uint8_t>(here[i] - up[i]);
  for (std::size_t i = 0; i < count; ++i)
    predicted[i] = static_cast<std::uint8_t>(here[i] - paeth(left[i], up[i], corner[i]));
  int best = 0;
  std::uint64_t least = cost_of(candidates_[0]);
  for (int i = 1; i < 3; ++i)
    if (std::uint64_t cost = cost_of(candidates_[i]); cost < least) {
      least = cost;
      best = i;
    }
  to[0] = filter_numbers[best];
  std::memcpy(to.data() + 1, candidates_[best].data(), count);
  current_.swap(above_);
}

}  // namespace fuseline
