// Reductions in Loop IR: accumulators, their merging over lanes, threads and blocks.
#pragma once

#include <functional>
#include <vector>

#include "fuse/loop_builder.hpp"
#include "fuse/lower.hpp"
#include "fuse/lower_scalars.hpp"

namespace fuseline {

// Every order of combination is fixed by the sizes alone, never by timing, so that repeated runs
// agree bit for bit: lanes by halving, then single elements, then threads by shuffles, then blocks
// in ascending order by the block that finishes last.
class ReductionLowering {
 public:
  ReductionLowering(const KernelPlan& plan, loop::Builder& builder, ScalarLowering& scalars,
                    LoweredKernel& lowered);

  // flat: around the work of a block. `store_results` runs once, in the last block.
  void begin_block();
  void end_block(const std::function<void()>& store_results);
  // row: around the work of one kept coordinate.
  void begin_row();
  void end_row(const std::function<void()>& store_results);
  // column: around the reduced loops of one group of lanes.
  void begin_column(int lanes);
  void end_column();
  // Takes in the elements at the current coordinates.
  void accumulate();

 private:
  struct Pair {
    loop::Id value, index;  // index: only with_index
  };
  struct Accumulator {
    DType dtype;          // in which this block adds up: may be narrower than the reduction's
    ScalarId source;      // what is added: the value, or what it was widened from
    bool counts = false;  // source is bool: lanes are counted
    Pair lanes{loop::no_id, loop::no_id}, single{loop::no_id, loop::no_id};
  };

  bool gpu() const { return plan_.target.block_threads > 1; }
  Accumulator plan_accumulator(const RegionReduction& reduction) const;
  void start(int lanes, bool with_lanes);
  loop::Id identity(const RegionReduction& reduction, DType dtype, int lanes);
  Pair read(const RegionReduction& reduction, const Pair& variables);
  void update(const RegionReduction& reduction, const Pair& variables, const Pair& element);
  Pair combine(const RegionReduction& reduction, const Pair& a, const Pair& b);
  // Lanes and single elements together, in the accumulator's type.
  Pair finish_lanes(std::size_t position);
  Pair widen(std::size_t position, Pair pair);
  Pair across_block(std::size_t position, Pair pair, const Pair& shared);
  Pair across_warp(const RegionReduction& reduction, Pair pair);
  void add_scratch();
  void store_partials(const std::vector<Pair>& pairs);
  std::vector<Pair> combine_partials();
  void publish(const std::vector<Pair>& pairs);
  bool packs_sum_into_ticket() const;
  void add_partials();
  void add_shared();
  void end_block_packed(const Pair& sum, const std::function<void()>& store_results);
  void end_block_with_partials(const std::vector<Pair>& pairs,
                               const std::function<void()>& store_results);

  const KernelPlan& plan_;
  const Region& region_;
  loop::Builder& builder_;
  ScalarLowering& s_;
  LoweredKernel& lowered_;
  std::vector<Accumulator> accumulators_;
  std::vector<Pair> partial_buffers_;  // positions of buffers, not values
  std::vector<Pair> shared_buffers_;   // of the accumulators' types
  std::vector<Pair> shared_last_;      // of the reductions' types, for the last block
  int ticket_ = -1;
  int flag_ = -1;
};

}  // namespace fuseline
