// Analysis: what is known of each value of a kernel before code is written for it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "fuse/loop_ir.hpp"

namespace fuseline::emit {

// Bounds of a value of an integer type of up to 32 bits (signed or unsigned reading of its type).
struct Range {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();

  bool within(std::int64_t a, std::int64_t b) const { return a <= low && high <= b; }
  bool fits_i16() const { return within(-32768, 32767); }
};

struct ValueFacts {
  const loop::Inst* definition = nullptr;
  int block = 0;  // which block of the kernel defines it, counted in the order of the walk
  loop::Type type;
  Range range;
  std::vector<const loop::Inst*> users;
};

class Analysis {
 public:
  explicit Analysis(const loop::Kernel& kernel);

  const ValueFacts& of(loop::Id id) const { return facts_[id]; }
  // The signed reading of a constant, or of a splat of one.
  std::optional<std::int64_t> constant(loop::Id id) const;
  // Every channel of this load_group of u8 is used in casts to 32-bit types only.
  bool widened_only(const loop::Inst& group) const;
  // The buffer is only read or only written, and not by atomic operations.
  bool one_way(int buffer) const;

 private:
  struct Access {
    bool read = false, written = false, atomic = false;
  };

  void block(const loop::Block& block);
  void define(const loop::Inst& inst, int block);
  Range range_of(const loop::Inst& inst) const;
  Range range_of_compute(const loop::Inst& inst) const;

  const loop::Kernel& kernel_;
  std::vector<ValueFacts> facts_;
  std::vector<Access> accesses_;
  int blocks_ = 0;
};

}  // namespace fuseline::emit
