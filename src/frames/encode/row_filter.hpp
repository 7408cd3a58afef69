// PNG's row filters, and which of them suits a row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fuseline {

// Filters rows of photographs: Sub, Up or Paeth, whichever leaves the smallest residuals.
class RowFilter {
 public:
  // `step`: bytes of a pixel.
  RowFilter(std::size_t row_bytes, std::size_t step);

  // `to` gets the filter byte and the residuals. Rows come from top to bottom.
  void filter(std::span<const std::uint8_t> row, std::span<std::uint8_t> to);

 private:
  std::size_t step_;
  std::vector<std::uint8_t> current_;  // both with `step_` zeros in front
  std::vector<std::uint8_t> above_;
  std::vector<std::uint8_t> candidates_[3];
};

}  // namespace fuseline
