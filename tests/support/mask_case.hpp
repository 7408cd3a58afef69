// A realistic kernel: gray of packed RGB, threshold, mask and count, 16 pixels a thread.
#pragma once

#include "support/thread_cases.hpp"

namespace fuseline::test {

namespace detail {

inline loop::Id gray(loop::Builder& b, const std::vector<loop::Id>& rgb) {
  int lanes = b.type_of(rgb[0]).lanes;
  constexpr int weights[] = {4899, 9617, 1868};
  loop::Id sum = b.integer(DType::i32, 1 << 13, lanes);
  for (std::size_t c = 0; c < 3; ++c)
    sum = b.add(sum, b.mul(b.cast(DType::i32, rgb[c]), b.integer(DType::i32, weights[c], lanes)));
  return b.compute(Intrinsic::shr, {sum, b.integer(DType::i32, 14, lanes)});
}

inline loop::Id mask_of(loop::Builder& b, loop::Id hit) {
  int lanes = b.type_of(hit).lanes;
  return b.select(hit, b.integer(DType::u8, 255, lanes), b.integer(DType::u8, 0, lanes));
}

// Pixels at .. at + lanes - 1; adds those above the threshold to `count`.
inline void mask_pixels(loop::Builder& b, int frame, int mask, loop::Id at, loop::Id threshold,
                        loop::Id count, int lanes) {
  int align = lanes > 1 ? 16 : 0;
  loop::Id bytes = b.mul(at, b.integer(DType::i64, 3));
  auto rgb = b.load_group(frame, bytes, 3, lanes, align, lanes > 1);
  loop::Id hit = b.lt(b.splat(threshold, lanes), gray(b, rgb));
  b.store(mask, at, mask_of(b, hit), align, lanes > 1);
  b.set(count, b.add(b.get(count), b.count_lanes(hit)));
}

// Integer sum over the block, added to total[0] by its first thread.
inline void add_block_count(loop::Builder& b, loop::Id count, int warps, int total, int threads) {
  for (int d = 16; d > 0; d /= 2)
    count = b.add(count, b.shuffle_down(count, b.integer(DType::i32, d)));
  loop::Id thread = b.thread_id(), zero = b.integer(DType::i32, 0);
  loop::Id lane = b.compute(Intrinsic::bit_and, {thread, b.integer(DType::i32, 31)});
  b.if_then(b.eq(lane, zero), [&] {
    b.store(warps, b.compute(Intrinsic::shr, {thread, b.integer(DType::i32, 5)}), count);
  });
  b.barrier();
  b.if_then(b.eq(thread, zero), [&] {
    loop::Id sum = b.load(warps, zero);
    for (int w = 1; w < threads / 32; ++w)
      sum = b.add(sum, b.load(warps, b.integer(DType::i32, w)));
    b.atomic_add(total, zero, b.cast(DType::u32, sum));
  });
}

}  // namespace detail

inline LoopCase mask_case(std::size_t pixels, int threads) {
  constexpr int lanes = 16;
  auto frame_values = distinct_values(DType::u8, 3 * pixels);
  std::vector<std::uint64_t> mask_values;
  std::uint32_t above = 0;
  for (std::size_t i = 0; i < pixels; ++i) {
    std::uint64_t y = (4899 * frame_values[3 * i] + 9617 * frame_values[3 * i + 1] +
                       1868 * frame_values[3 * i + 2] + (1 << 13)) >>
                      14;
    mask_values.push_back(y > 127 ? 255 : 0);
    above += y > 127;
  }
  CaseBuilder c(fmt::format("mask_{}_{}", pixels, threads), {threads, lanes});
  int frame = c.input("frame", DType::u8, from_bits(DType::u8, frame_values));
  int mask = c.output("mask", DType::u8, from_bits(DType::u8, mask_values));
  int total =
      c.in_place("area", DType::u32, Bytes(4, 0), bytes_of(std::vector<std::uint32_t>{above}));
  loop::Id n = c.param("n", DType::i64, pixels), threshold = c.param("threshold", DType::i32, 127);
  loop::Builder& b = c.builder();
  int warps = b.add_buffer({"warps", DType::i32, true, loop::Space::shared, threads / 32});
  loop::Id at = c.first_element();
  loop::Id count = b.var(b.integer(DType::i32, 0));
  loop::Id end = b.min(b.add(at, b.integer(DType::i64, lanes)), n);
  b.if_then(
      b.eq(b.sub(end, at), b.integer(DType::i64, lanes)),
      [&] { detail::mask_pixels(b, frame, mask, at, threshold, count, lanes); },
      [&] {
        b.for_range(at, end, b.integer(DType::i64, 1), [&](loop::Id i) {
          detail::mask_pixels(b, frame, mask, i, threshold, count, 1);
        });
      });
  detail::add_block_count(b, b.get(count), warps, total, threads);
  std::size_t per_block = static_cast<std::size_t>(threads) * lanes;
  return c.finish(static_cast<std::int64_t>((pixels + per_block - 1) / per_block * per_block));
}

}  // namespace fuseline::test
