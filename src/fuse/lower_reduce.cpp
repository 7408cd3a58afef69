// Reductions in Loop IR.
#include "fuse/lower_reduce.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "graph/op_table.hpp"

namespace fuseline {

using loop::Id;
using loop::no_id;

namespace {

constexpr int warp_size = 32;
// A block's share of a whole reduction never has more elements (see launch_blocks).
constexpr std::int64_t max_block_elements = 65536;

}  // namespace

ReductionLowering::ReductionLowering(const KernelPlan& plan, loop::Builder& builder,
                                     ScalarLowering& scalars, LoweredKernel& lowered)
    : plan_(plan), region_(*plan.region), builder_(builder), s_(scalars), lowered_(lowered) {
  for (const RegionReduction& reduction : region_.reductions)
    accumulators_.push_back(plan_accumulator(reduction));
  if (!region_.reductions.empty()) add_scratch();
}

// Sums of widened small integers stay narrow inside a block: a count of booleans is counted, and
// bytes add up in 32 bits, when the block is too small to overflow them.
ReductionLowering::Accumulator ReductionLowering::plan_accumulator(const RegionReduction& r) const {
  Accumulator plain{r.dtype, r.value};
  const ScalarNode& n = region_.dag[r.value];
  bool sum = r.combine == Intrinsic::add && is_integer(r.dtype) && n.kind == ScalarKind::cast;
  if (!sum) return plain;
  DType from = region_.dag[n.args[0]].dtype;
  bool small_block = plan_.strategy == Strategy::flat;
  DType narrow =
      size_of(r.dtype) == 8 && (small_block || plan_.guards.index32) ? DType::i32 : r.dtype;
  if (is_bool(from) && plan_.strategy != Strategy::column) return {narrow, n.args[0], true};
  if (!is_integer(from) || size_of(r.dtype) != 8 || !small_block) return plain;
  Range range = region_.dag.range(n.args[0]);
  std::int64_t limit = 2147483647 / max_block_elements;
  bool fits = from != DType::u64 && range.low >= -limit && range.high <= limit;
  return fits ? Accumulator{DType::i32, n.args[0]} : plain;
}

// The sum of a CUDA block can travel in the ticket itself, above its count of blocks: one atomic
// a block, no partial sums, no fence. Bytes and counts of fewer than 2^31 elements stay below the
// 40 bits that are left for them, and so do 2^23 blocks below their 24 bits.
constexpr int ticket_bits = 24;

bool ReductionLowering::packs_sum_into_ticket() const {
  bool one = gpu() && plan_.strategy == Strategy::flat && region_.reductions.size() == 1;
  if (!one || !plan_.guards.index32 || accumulators_[0].dtype != DType::i32) return false;
  const RegionReduction& r = region_.reductions[0];
  if (r.combine != Intrinsic::add || size_of(r.dtype) != 8) return false;
  Range range = region_.dag.range(accumulators_[0].source);
  return range.low >= -255 && range.high <= 255;
}

void ReductionLowering::add_partials() {
  using Kind = BufferArgument::Kind;
  auto add = [&](std::string name, DType dtype, Kind kind, std::size_t position) {
    lowered_.buffers.push_back({kind, static_cast<int>(position), dtype});
    return static_cast<Id>(builder_.add_buffer({std::move(name), dtype, true}));
  };
  bool packed = packs_sum_into_ticket();
  for (std::size_t i = 0; !packed && i < region_.reductions.size(); ++i) {
    const RegionReduction& r = region_.reductions[i];
    Pair buffers{add(fmt::format("part{}", i), r.dtype, Kind::partial, i), no_id};
    if (r.with_index)
      buffers.index = add(fmt::format("part{}_index", i), DType::i64, Kind::partial_index, i);
    partial_buffers_.push_back(buffers);
  }
  ticket_ = static_cast<int>(add("ticket", packed ? DType::u64 : DType::i32, Kind::ticket, 0));
}

void ReductionLowering::add_shared() {
  int warps = lowered_.kernel.threads / warp_size;
  auto shared = [&](std::string name, DType dtype, int elements) {
    return static_cast<Id>(
        builder_.add_buffer({std::move(name), dtype, true, loop::Space::shared, elements}));
  };
  bool partials = plan_.strategy == Strategy::flat && !packs_sum_into_ticket();
  for (std::size_t i = 0; i < region_.reductions.size(); ++i) {
    const RegionReduction& r = region_.reductions[i];
    Pair buffers{shared(fmt::format("warps{}", i), accumulators_[i].dtype, warps), no_id};
    if (r.with_index) buffers.index = shared(fmt::format("warps{}_index", i), DType::i64, warps);
    shared_buffers_.push_back(buffers);
    if (accumulators_[i].dtype != r.dtype && partials)
      buffers.value = shared(fmt::format("wide{}", i), r.dtype, warps);
    shared_last_.push_back(buffers);
  }
  if (partials) flag_ = static_cast<int>(shared("last", DType::i32, 1));
}

void ReductionLowering::add_scratch() {
  if (plan_.strategy == Strategy::flat) add_partials();
  if (gpu() && plan_.strategy != Strategy::column) add_shared();
}

Id ReductionLowering::identity(const RegionReduction& r, DType dtype, int lanes) {
  Number n = identity_of(r.combine, dtype);
  if (is_float(dtype)) return builder_.real(dtype, n.d, lanes);
  return builder_.integer(dtype, n.i, lanes);
}

void ReductionLowering::start(int lanes, bool with_lanes) {
  for (std::size_t i = 0; i < accumulators_.size(); ++i) {
    const RegionReduction& r = region_.reductions[i];
    Accumulator& acc = accumulators_[i];
    auto pair = [&](int width) {
      Pair variables{builder_.var(identity(r, acc.dtype, width)), no_id};
      if (r.with_index) variables.index = builder_.var(builder_.integer(DType::i64, 0, width));
      return variables;
    };
    bool lane_part = with_lanes && lanes > 1 && !acc.counts && s_.varies(acc.source);
    acc.lanes = lane_part ? pair(lanes) : Pair{no_id, no_id};
    acc.single = pair(with_lanes ? 1 : lanes);
  }
}

void ReductionLowering::begin_block() { start(plan_.lanes, true); }
void ReductionLowering::begin_row() { start(plan_.lanes, true); }
void ReductionLowering::begin_column(int lanes) { start(lanes, false); }

ReductionLowering::Pair ReductionLowering::read(const RegionReduction& r, const Pair& variables) {
  return {builder_.get(variables.value), r.with_index ? builder_.get(variables.index) : no_id};
}

ReductionLowering::Pair ReductionLowering::combine(const RegionReduction& r, const Pair& a,
                                                   const Pair& b) {
  if (!r.with_index) return {builder_.compute(r.combine, {a.value, b.value}), no_id};
  // b wins when it is better, or equal and earlier. NaN is better than any number.
  auto both = [&](Id x, Id y) { return builder_.compute(Intrinsic::bit_and, {x, y}); };
  auto either = [&](Id x, Id y) { return builder_.compute(Intrinsic::bit_or, {x, y}); };
  Id better =
      r.combine == Intrinsic::max ? builder_.lt(a.value, b.value) : builder_.lt(b.value, a.value);
  Id earlier = builder_.lt(b.index, a.index);
  Id wins = either(better, both(builder_.eq(a.value, b.value), earlier));
  if (is_float(r.dtype)) {
    Id a_nan = builder_.compute(Intrinsic::ne, {a.value, a.value});
    Id b_nan = builder_.compute(Intrinsic::ne, {b.value, b.value});
    Id a_number = builder_.compute(Intrinsic::bit_not, {a_nan});
    wins = either(both(wins, a_number), both(b_nan, either(a_number, earlier)));
  }
  return {builder_.select(wins, b.value, a.value), builder_.select(wins, b.index, a.index)};
}

void ReductionLowering::update(const RegionReduction& r, const Pair& variables,
                               const Pair& element) {
  Pair merged = combine(r, read(r, variables), element);
  builder_.set(variables.value, merged.value);
  if (r.with_index) builder_.set(variables.index, merged.index);
}

void ReductionLowering::accumulate() {
  bool column = plan_.strategy == Strategy::column;
  int lanes = s_.lanes();
  for (std::size_t i = 0; i < accumulators_.size(); ++i) {
    const RegionReduction& r = region_.reductions[i];
    const Accumulator& acc = accumulators_[i];
    if (acc.counts) {
      Id flag = s_.wide(acc.source);
      Id counted = lanes > 1 ? builder_.count_lanes(flag) : builder_.cast(DType::i32, flag);
      update(r, acc.single, {builder_.cast(acc.dtype, counted), no_id});
      continue;
    }
    Pair element{builder_.cast(acc.dtype, s_.wide(acc.source)),
                 r.with_index ? builder_.cast(DType::i64, s_.wide(r.index)) : no_id};
    if (column || lanes == 1) {
      update(r, acc.single, element);
    } else if (acc.lanes.value != no_id) {
      update(r, acc.lanes, element);
    } else {  // the same element for every lane
      update(r, acc.single, {builder_.reduce_lanes(r.combine, element.value), no_id});
    }
  }
}

ReductionLowering::Pair ReductionLowering::finish_lanes(std::size_t position) {
  const RegionReduction& r = region_.reductions[position];
  const Accumulator& acc = accumulators_[position];
  Pair total = read(r, acc.single);
  if (acc.lanes.value != no_id) {
    Id merged = builder_.reduce_lanes(r.combine, builder_.get(acc.lanes.value));
    total.value = builder_.compute(r.combine, {merged, total.value});
  }
  return total;
}

ReductionLowering::Pair ReductionLowering::widen(std::size_t position, Pair pair) {
  return {builder_.cast(region_.reductions[position].dtype, pair.value), pair.index};
}

void ReductionLowering::publish(const std::vector<Pair>& pairs) {
  for (std::size_t i = 0; i < pairs.size(); ++i)
    s_.set_reduced(static_cast<int>(i),
                   region_.reductions[i].with_index ? pairs[i].index : pairs[i].value);
}

void ReductionLowering::end_column() {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < accumulators_.size(); ++i) {
    Pair pair = read(region_.reductions[i], accumulators_[i].single);
    pair.value = builder_.cast(region_.reductions[i].dtype, pair.value);
    pairs.push_back(pair);
  }
  publish(pairs);
}

// ---- threads of a block (CUDA)

ReductionLowering::Pair ReductionLowering::across_warp(const RegionReduction& r, Pair pair) {
  if (r.combine == Intrinsic::add && builder_.type_of(pair.value) == loop::Type{DType::i32, 1})
    return {builder_.warp_sum(pair.value), no_id};  // one instruction from sm_80 on
  for (int distance = warp_size / 2; distance > 0; distance /= 2) {
    Id by = builder_.integer(DType::i32, distance);
    Pair other{builder_.shuffle_down(pair.value, by),
               r.with_index ? builder_.shuffle_down(pair.index, by) : no_id};
    pair = combine(r, pair, other);
  }
  return pair;
}

// Valid in thread 0. The type is the pair's.
ReductionLowering::Pair ReductionLowering::across_block(std::size_t position, Pair pair,
                                                        const Pair& shared) {
  const RegionReduction& r = region_.reductions[position];
  DType dtype = builder_.type_of(pair.value).dtype;
  auto integer = [&](std::int64_t v) { return builder_.integer(DType::i32, v); };
  pair = across_warp(r, pair);
  Id thread = builder_.thread_id();
  Id warp = builder_.div(thread, integer(warp_size));
  builder_.if_then(builder_.eq(builder_.rem(thread, integer(warp_size)), integer(0)), [&] {
    builder_.store(static_cast<int>(shared.value), warp, pair.value);
    if (r.with_index) builder_.store(static_cast<int>(shared.index), warp, pair.index);
  });
  builder_.barrier();
  // The first warp combines the warps' values; the others are done.
  Pair result{builder_.var(pair.value), r.with_index ? builder_.var(pair.index) : no_id};
  builder_.if_then(builder_.lt(thread, integer(warp_size)), [&] {
    Id used = builder_.lt(thread, builder_.div(builder_.thread_count(), integer(warp_size)));
    Id from = builder_.select(used, thread, integer(0));
    Id value = builder_.load(static_cast<int>(shared.value), from);
    Pair sums{builder_.select(used, value, identity(r, dtype, 1)), no_id};
    if (r.with_index)
      sums.index = builder_.select(used, builder_.load(static_cast<int>(shared.index), from),
                                   builder_.integer(DType::i64, 0));
    sums = across_warp(r, sums);
    builder_.set(result.value, sums.value);
    if (r.with_index) builder_.set(result.index, sums.index);
  });
  return read(r, result);
}

void ReductionLowering::end_row(const std::function<void()>& store_results) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < accumulators_.size(); ++i) {
    Pair pair = finish_lanes(i);
    if (gpu()) pair = across_block(i, pair, shared_buffers_[i]);
    pairs.push_back(widen(i, pair));
  }
  publish(pairs);
  if (!gpu()) {
    store_results();
    return;
  }
  builder_.if_then(builder_.eq(builder_.thread_id(), builder_.integer(DType::i32, 0)),
                   store_results);
}

// ---- blocks

void ReductionLowering::store_partials(const std::vector<Pair>& pairs) {
  Id block = builder_.block_id();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    builder_.store(static_cast<int>(partial_buffers_[i].value), block, pairs[i].value);
    if (region_.reductions[i].with_index)
      builder_.store(static_cast<int>(partial_buffers_[i].index), block, pairs[i].index);
  }
}

std::vector<ReductionLowering::Pair> ReductionLowering::combine_partials() {
  std::vector<Pair> totals, pairs;
  for (const RegionReduction& r : region_.reductions)
    totals.push_back({builder_.var(identity(r, r.dtype, 1)),
                      r.with_index ? builder_.var(builder_.integer(DType::i64, 0)) : no_id});
  Id zero = builder_.integer(DType::i64, 0);
  Id first = gpu() ? builder_.cast(DType::i64, builder_.thread_id()) : zero;
  Id step =
      gpu() ? builder_.cast(DType::i64, builder_.thread_count()) : builder_.integer(DType::i64, 1);
  builder_.for_range(first, builder_.block_count(), step, [&](Id block) {
    for (std::size_t i = 0; i < totals.size(); ++i) {
      const RegionReduction& r = region_.reductions[i];
      Pair part{builder_.load(static_cast<int>(partial_buffers_[i].value), block), no_id};
      if (r.with_index)
        part.index = builder_.load(static_cast<int>(partial_buffers_[i].index), block);
      update(r, totals[i], part);
    }
  });
  if (gpu()) builder_.barrier();  // shared arrays are used again
  for (std::size_t i = 0; i < totals.size(); ++i) {
    Pair pair = read(region_.reductions[i], totals[i]);
    pairs.push_back(gpu() ? across_block(i, pair, shared_last_[i]) : pair);
  }
  return pairs;
}

void ReductionLowering::end_block(const std::function<void()>& store_results) {
  if (region_.reductions.empty()) return;
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < accumulators_.size(); ++i) {
    Pair pair = finish_lanes(i);
    if (gpu()) pair = across_block(i, pair, shared_buffers_[i]);
    pairs.push_back(widen(i, pair));
  }
  if (packs_sum_into_ticket())
    end_block_packed(pairs[0], store_results);
  else
    end_block_with_partials(pairs, store_results);
}

void ReductionLowering::end_block_packed(const Pair& sum,
                                         const std::function<void()>& store_results) {
  auto wide = [&](std::int64_t v) { return builder_.integer(DType::u64, v); };
  Id first = builder_.eq(builder_.thread_id(), builder_.integer(DType::i32, 0));
  builder_.if_then(first, [&] {
    Id ticket_at = builder_.integer(DType::i64, 0);
    Id own =
        builder_.compute(Intrinsic::shl, {builder_.cast(DType::u64, sum.value), wide(ticket_bits)});
    Id before = builder_.atomic_add(ticket_, ticket_at, builder_.add(own, wide(1)));
    Id order = builder_.compute(Intrinsic::bit_and, {before, wide((1 << ticket_bits) - 1)});
    Id last = builder_.sub(builder_.cast(DType::u64, builder_.block_count()), wide(1));
    builder_.if_then(builder_.eq(order, last), [&] {
      Id others = builder_.compute(Intrinsic::shr, {builder_.cast(DType::i64, before),
                                                    builder_.integer(DType::i64, ticket_bits)});
      Id total = builder_.add(others, builder_.cast(DType::i64, sum.value));
      builder_.store(ticket_, ticket_at, wide(0));  // ready for the next launch
      publish({{builder_.cast(region_.reductions[0].dtype, total), no_id}});
      store_results();
    });
  });
}

void ReductionLowering::end_block_with_partials(const std::vector<Pair>& pairs,
                                                const std::function<void()>& store_results) {
  Id zero = builder_.integer(DType::i32, 0), one = builder_.integer(DType::i32, 1);
  Id ticket_at = builder_.integer(DType::i64, 0);
  auto take_ticket = [&] {
    store_partials(pairs);
    builder_.fence();
    Id order = builder_.cast(DType::i64, builder_.atomic_add(ticket_, ticket_at, one));
    Id last = builder_.sub(builder_.block_count(), builder_.integer(DType::i64, 1));
    return builder_.eq(order, last);
  };
  auto finish = [&] {
    builder_.fence();
    publish(combine_partials());
    auto write = [&] {
      builder_.store(ticket_, ticket_at, zero);  // ready for the next launch
      store_results();
    };
    if (gpu())
      builder_.if_then(builder_.eq(builder_.thread_id(), zero), write);
    else
      write();
  };
  if (!gpu()) {
    builder_.if_then(take_ticket(), finish);
    return;
  }
  builder_.if_then(builder_.eq(builder_.thread_id(), zero), [&] {
    builder_.store(flag_, ticket_at, builder_.cast(DType::i32, take_ticket()));
  });
  builder_.barrier();
  builder_.if_then(builder_.eq(builder_.load(flag_, ticket_at), one), finish);
}

}  // namespace fuseline
