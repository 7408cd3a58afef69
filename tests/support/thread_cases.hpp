// Cases that need many threads: shuffles, ballots, barriers, shared memory, atomics, and a whole
// reduction that the block which finishes last completes.
#pragma once

#include "support/memory_cases.hpp"

namespace fuseline::test {

// out[i] = the value `distance` lanes further in the warp, or the thread's own beyond its end.
inline LoopCase shuffle_case(DType type, int distance) {
  Shape shape{64, 1};
  auto values = distinct_values(type, 128);
  std::vector<std::uint64_t> want;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::size_t from = i % 32 + static_cast<std::size_t>(distance);
    want.push_back(from < 32 ? values[i + static_cast<std::size_t>(distance)] : values[i]);
  }
  CaseBuilder c(fmt::format("shuffle_{}_by_{}", name_of(type), distance), shape);
  int in = c.input("in", type, from_bits(type, values));
  int out = c.output("out", type, from_bits(type, want));
  loop::Builder& b = c.builder();
  loop::Id at = c.first_element();
  b.store(out, at, b.shuffle_down(b.load(in, at), b.integer(DType::i32, distance)));
  return c.finish(128);
}

inline LoopCase ballot_case() {
  Shape shape{96, 1};
  auto values = distinct_values(DType::u8, 192);
  std::vector<std::uint64_t> want(192);
  for (std::size_t i = 0; i < 192; ++i) {
    std::size_t first = i / 96 * 96 + i % 96 / 32 * 32;
    for (std::size_t l = 0; l < 32; ++l) want[i] += values[first + l] < 100;
  }
  CaseBuilder c("ballot", shape);
  int in = c.input("in", DType::u8, from_bits(DType::u8, values));
  int out = c.output("out", DType::i32, from_bits(DType::i32, want));
  loop::Builder& b = c.builder();
  loop::Id at = c.first_element();
  b.store(out, at, b.ballot_count(b.lt(b.load(in, at), b.integer(DType::u8, 100))));
  return c.finish(192);
}

// Reverses each block's elements through shared memory.
inline LoopCase reverse_case(DType type) {
  Shape shape{128, 1};
  auto values = distinct_values(type, 384);
  std::vector<std::uint64_t> want(384);
  for (std::size_t i = 0; i < 384; ++i) want[i] = values[i / 128 * 128 + 127 - i % 128];
  CaseBuilder c(fmt::format("reverse_{}", name_of(type)), shape);
  int in = c.input("in", type, from_bits(type, values));
  int out = c.output("out", type, from_bits(type, want));
  loop::Builder& b = c.builder();
  int tile = b.add_buffer({"tile", type, true, loop::Space::shared, 128});
  loop::Id at = c.first_element(), thread = b.thread_id();
  b.store(tile, thread, b.load(in, at));
  b.barrier();
  b.store(out, at, b.load(tile, b.sub(b.integer(DType::i32, 127), thread)));
  return c.finish(384);
}

// A histogram of 4 bins in shared memory, added to the global one: integer atomics in both.
inline LoopCase histogram_case(DType type) {
  Shape shape{64, 1};
  auto values = distinct_values(DType::u8, 320);
  std::vector<std::uint64_t> want = {10, 20, 30, 40}, before = want;
  for (std::uint64_t value : values) ++want[value & 3];
  CaseBuilder c(fmt::format("histogram_{}", name_of(type)), shape);
  int in = c.input("in", DType::u8, from_bits(DType::u8, values));
  int bins = c.in_place("bins", type, from_bits(type, before), from_bits(type, want));
  loop::Builder& b = c.builder();
  int local = b.add_buffer({"local", type, true, loop::Space::shared, 4});
  loop::Id at = c.first_element(), thread = b.thread_id();
  loop::Id four = b.lt(thread, b.integer(DType::i32, 4));
  b.if_then(four, [&] { b.store(local, thread, b.integer(type, 0)); });
  b.barrier();
  loop::Id bin =
      b.cast(DType::i32, b.compute(Intrinsic::bit_and, {b.load(in, at), b.integer(DType::u8, 3)}));
  b.atomic_add(local, bin, b.integer(type, 1));
  b.barrier();
  b.if_then(four, [&] { b.atomic_add(bins, thread, b.load(local, thread)); });
  return c.finish(320);
}

namespace detail {

// Sum over the block, complete in thread 0.
inline loop::Id block_sum(loop::Builder& b, loop::Id value, int warps, int threads) {
  for (int d = 16; d > 0; d /= 2)
    value = b.add(value, b.shuffle_down(value, b.integer(DType::i32, d)));
  loop::Id thread = b.thread_id(), zero = b.integer(DType::i32, 0);
  loop::Id lane = b.compute(Intrinsic::bit_and, {thread, b.integer(DType::i32, 31)});
  b.if_then(b.eq(lane, zero), [&] {
    b.store(warps, b.compute(Intrinsic::shr, {thread, b.integer(DType::i32, 5)}), value);
  });
  b.barrier();
  loop::Id sum = b.var(b.real(DType::f32, 0));
  b.if_then(b.eq(thread, zero), [&] {
    for (int w = 0; w < threads / 32; ++w)
      b.set(sum, b.add(b.get(sum), b.load(warps, b.integer(DType::i32, w))));
  });
  b.barrier();
  return b.get(sum);
}

// The same order of additions in plain C++.
inline float block_sum_reference(std::vector<float> lanes) {
  float sum = 0;
  for (std::size_t first = 0; first < lanes.size(); first += 32) {
    for (std::size_t d = 16; d > 0; d /= 2)
      for (std::size_t l = 0; l < d; ++l) lanes[first + l] += lanes[first + l + d];
    sum += lanes[first];
  }
  return sum;
}

}  // namespace detail

// Sum of all elements: a grid stride in each thread, warps, the block, and the block that takes
// the last ticket adds the partial sums and resets the ticket for the next launch.
inline LoopCase whole_sum_case(std::size_t count, int blocks) {
  constexpr int threads = 128;
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>((i * 37 + 11) % 1001) * 0.37f;
  std::vector<float> partial;
  for (std::size_t block = 0; block < static_cast<std::size_t>(blocks); ++block) {
    std::vector<float> lanes(threads, 0);
    for (std::size_t t = 0; t < threads; ++t)
      for (std::size_t i = block * threads + t; i < count;
           i += threads * static_cast<std::size_t>(blocks))
        lanes[t] += values[i];
    partial.push_back(detail::block_sum_reference(lanes));
  }
  std::vector<float> last(threads, 0);
  for (std::size_t i = 0; i < partial.size(); ++i) last[i % threads] += partial[i];
  float total = detail::block_sum_reference(last);

  CaseBuilder c(fmt::format("whole_sum_{}_{}", count, blocks), {threads, 1});
  int in = c.input("in", DType::f32, bytes_of(values));
  int sums = c.output("sums", DType::f32, bytes_of(partial));
  int out = c.output("total", DType::f32, bytes_of(std::vector<float>{total}));
  Bytes none = bytes_of(std::vector<std::uint32_t>{0});
  int ticket = c.in_place("ticket", DType::u32, none, none);
  loop::Id n = c.param("n", DType::i64, count);
  loop::Builder& b = c.builder();
  int warps = b.add_buffer({"warps", DType::f32, true, loop::Space::shared, threads / 32});
  int is_last = b.add_buffer({"is_last", DType::bool_, true, loop::Space::shared, 1});
  loop::Id first = c.first_element(), zero = b.integer(DType::i32, 0), thread = b.thread_id();
  loop::Id grid = b.mul(b.block_count(), b.integer(DType::i64, threads));
  loop::Id mine = b.var(b.real(DType::f32, 0));
  b.for_range(first, n, grid, [&](loop::Id i) { b.set(mine, b.add(b.get(mine), b.load(in, i))); });
  loop::Id sum = detail::block_sum(b, b.get(mine), warps, threads);
  b.if_then(b.eq(thread, zero), [&] {
    b.store(sums, b.block_id(), sum);
    b.fence();
    loop::Id taken = b.atomic_add(ticket, zero, b.integer(DType::u32, 1));
    loop::Id before_last = b.sub(b.cast(DType::u32, b.block_count()), b.integer(DType::u32, 1));
    b.store(is_last, zero, b.eq(taken, before_last));
  });
  b.barrier();
  b.if_then(b.load(is_last, zero), [&] {
    b.fence();
    loop::Id rest = b.var(b.real(DType::f32, 0));
    b.for_range(b.cast(DType::i64, thread), b.block_count(), b.integer(DType::i64, threads),
                [&](loop::Id i) { b.set(rest, b.add(b.get(rest), b.load(sums, i))); });
    loop::Id all = detail::block_sum(b, b.get(rest), warps, threads);
    b.if_then(b.eq(thread, zero), [&] {
      b.store(out, zero, all);
      b.store(ticket, zero, b.integer(DType::u32, 0));
    });
  });
  return c.finish(static_cast<std::int64_t>(blocks) * threads);
}

inline std::vector<LoopCase> thread_cases() {
  std::vector<LoopCase> cases = {ballot_case(), whole_sum_case(1000, 3), whole_sum_case(1, 1),
                                 whole_sum_case(5000, 7)};
  for (DType type : {DType::bool_, DType::u8, DType::i16, DType::i32, DType::u32, DType::i64,
                     DType::u64, DType::f32, DType::f64}) {
    cases.push_back(reverse_case(type));
    for (int distance : {1, 16}) cases.push_back(shuffle_case(type, distance));
  }
  for (DType type : {DType::f16, DType::bf16}) cases.push_back(reverse_case(type));
  for (DType type : {DType::i32, DType::u32, DType::u64}) cases.push_back(histogram_case(type));
  return cases;
}

}  // namespace fuseline::test
