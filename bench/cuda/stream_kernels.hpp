// Kernels that only move bytes, in many variants: what the memory gives at a ratio of reads to
// writes.
#pragma once

#include <string>
#include <vector>

#include "cuda/harness.hpp"

namespace fuseline::bench {

// Buffers of one unit of work.
struct StreamUnit {
  const void* from = nullptr;
  void* to = nullptr;
};

// All variants of "read `reads` bytes for every `writes` (0 or 1) written", as rows of a family.
// `packets` is how many times 16 bytes are written, or would be.
std::vector<Row> stream_rows(Session& session, const std::string& family, int reads, int writes,
                             std::int64_t packets, const std::vector<StreamUnit>& units);

// The driver's own copy of the same bytes, half of them read and half written.
std::vector<Row> copy_rows(Session& session, const std::string& family, double bytes,
                           const std::vector<StreamUnit>& units);

}  // namespace fuseline::bench
