// Cases for loads, stores, lanes and control flow of Loop IR, with one thread or with many.
#pragma once

#include "support/reference.hpp"

namespace fuseline::test {

inline constexpr DType memory_types[] = {
    DType::bool_, DType::u8,  DType::i8,  DType::u16,  DType::i16, DType::u32, DType::i32,
    DType::u64,   DType::i64, DType::f16, DType::bf16, DType::f32, DType::f64};

// Different bits in every element; floats stay clear of NaN, so that bits survive a round trip.
inline std::vector<std::uint64_t> distinct_values(DType type, std::size_t count) {
  std::vector<std::uint64_t> values;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15u;
    std::size_t bits = 8 * size_of(type);
    std::uint64_t value = bits == 64 ? mixed : mixed >> (64 - bits);
    if (is_bool(type)) value &= 1;
    if (is_float(type)) value &= ~(std::uint64_t{1} << (bits - 2));
    values.push_back(value);
  }
  return values;
}

inline std::size_t step_of(Shape shape) {
  return static_cast<std::size_t>(shape.threads) * static_cast<std::size_t>(shape.lanes);
}

// out[i + shift] = in[i + shift]: a base that is off by `shift` elements has its own alignment.
inline LoopCase copy_case(DType type, Shape shape, int shift, bool streaming) {
  std::size_t count = 3 * step_of(shape);
  auto all = distinct_values(type, count + static_cast<std::size_t>(shift));
  CaseBuilder c(fmt::format("copy_{}_x{}_shift{}{}", name_of(type), shape.lanes, shift,
                            streaming ? "_stream" : ""),
                shape);
  Bytes data = from_bits(type, all), before(data.size(), 0), want = data;
  std::fill_n(want.begin(), static_cast<std::size_t>(shift) * size_of(type), 0);
  int in = c.input("in", type, data), out = c.in_place("out", type, before, want);
  loop::Builder& b = c.builder();
  loop::Id at = b.add(c.first_element(), b.integer(DType::i64, shift));
  std::size_t bytes = size_of(type) * static_cast<std::size_t>(shape.lanes);
  std::size_t align = shift > 0 ? size_of(type) : bytes & ~(bytes - 1);
  if (align < size_of(type)) align = size_of(type);
  b.store(out, at, b.load(in, at, shape.lanes, static_cast<int>(align), streaming),
          static_cast<int>(align), streaming);
  return c.finish(static_cast<std::int64_t>(count));
}

// Channels in reversed order.
inline LoopCase group_case(DType type, int channels, Shape shape, int align) {
  std::size_t pixels = 2 * step_of(shape), n = static_cast<std::size_t>(channels);
  auto values = distinct_values(type, pixels * n);
  std::vector<std::uint64_t> want(values.size());
  for (std::size_t p = 0; p < pixels; ++p)
    for (std::size_t k = 0; k < n; ++k) want[p * n + k] = values[p * n + n - 1 - k];
  CaseBuilder c(
      fmt::format("group_{}_{}ch_x{}_align{}", name_of(type), channels, shape.lanes, align), shape);
  int in = c.input("pixels", type, from_bits(type, values));
  int out = c.output("flipped", type, from_bits(type, want));
  loop::Builder& b = c.builder();
  loop::Id at = b.mul(c.first_element(), b.integer(DType::i64, channels));
  std::vector<loop::Id> parts = b.load_group(in, at, channels, shape.lanes, align);
  std::reverse(parts.begin(), parts.end());
  b.store_group(out, at, parts, align);
  return c.finish(static_cast<std::int64_t>(pixels));
}

// out[(5 i + 3) mod n] = in[(7 i + 1) mod n], with a power of two for n.
inline LoopCase gather_case(DType type, DType index, Shape shape) {
  std::size_t n = std::max<std::size_t>(256, step_of(shape));  // a power of two
  auto values = distinct_values(type, n);
  std::vector<std::uint64_t> want(n);
  for (std::size_t i = 0; i < n; ++i) want[(5 * i + 3) % n] = values[(7 * i + 1) % n];
  CaseBuilder c(fmt::format("gather_{}_by_{}_x{}", name_of(type), name_of(index), shape.lanes),
                shape);
  int in = c.input("in", type, from_bits(type, values));
  int out = c.output("out", type, from_bits(type, want));
  loop::Builder& b = c.builder();
  loop::Id i = b.ramp(b.cast(index, c.first_element()), shape.lanes);
  auto place = [&](int factor, int offset) {
    loop::Id scaled = b.mul(i, b.integer(index, factor, shape.lanes));
    loop::Id moved = b.add(scaled, b.integer(index, offset, shape.lanes));
    return b.compute(Intrinsic::bit_and,
                     {moved, b.integer(index, static_cast<int>(n) - 1, shape.lanes)});
  };
  b.scatter(out, place(5, 3), b.gather(in, place(7, 1)));
  return c.finish(static_cast<std::int64_t>(n));
}

// Reduces the lanes of one value; with floats the halving tree decides the bits.
inline LoopCase reduce_case(Intrinsic fn, DType type, Shape shape) {
  std::size_t count = 2 * step_of(shape), lanes = static_cast<std::size_t>(shape.lanes);
  auto values = distinct_values(type, count);
  std::vector<std::uint64_t> want;
  for (std::size_t at = 0; at < count; at += lanes) {
    std::vector<std::uint64_t> tree(values.begin() + static_cast<long>(at),
                                    values.begin() + static_cast<long>(at + lanes));
    for (std::size_t half = lanes / 2; half > 0; half /= 2)
      for (std::size_t l = 0; l < half; ++l) tree[l] = reference(fn, type, tree[l], tree[l + half]);
    want.push_back(tree[0]);
  }
  CaseBuilder c(fmt::format("reduce_{}_{}_x{}", info(fn).name, name_of(type), shape.lanes), shape);
  int in = c.input("in", type, from_bits(type, values));
  int out = c.output("out", type, from_bits(type, want));
  loop::Builder& b = c.builder();
  loop::Id at = c.first_element();
  loop::Id one = b.reduce_lanes(fn, b.load(in, at, shape.lanes));
  b.store(out, b.div(at, b.integer(DType::i64, shape.lanes)), one);
  return c.finish(static_cast<std::int64_t>(count));
}

// One pass over the lanes that stores, counts and reduces the same values.
inline LoopCase count_case(Shape shape) {
  std::size_t count = 2 * step_of(shape), lanes = static_cast<std::size_t>(shape.lanes);
  auto values = distinct_values(DType::i32, count);
  std::vector<std::uint64_t> flags(count), counts(count / lanes);
  for (std::size_t i = 0; i < count; ++i) {
    flags[i] = static_cast<std::int32_t>(values[i]) < 1000;
    counts[i / lanes] += flags[i];
  }
  CaseBuilder c(fmt::format("count_x{}", shape.lanes), shape);
  int in = c.input("in", DType::i32, from_bits(DType::i32, values));
  int flag = c.output("flag", DType::bool_, from_bits(DType::bool_, flags));
  int total = c.output("total", DType::i32, from_bits(DType::i32, counts));
  loop::Id limit = c.param("limit", DType::i32, 1000);
  loop::Builder& b = c.builder();
  loop::Id at = c.first_element();
  loop::Id below = b.lt(b.load(in, at, shape.lanes), b.splat(limit, shape.lanes));
  b.store(flag, at, below);
  b.store(total, b.div(at, b.integer(DType::i64, shape.lanes)), b.count_lanes(below));
  return c.finish(static_cast<std::int64_t>(count));
}

// A variable of N lanes through a loop with a branch: x -> 3 x + k while k < rounds, odd k negate.
inline LoopCase loop_case(Shape shape) {
  std::size_t count = 2 * step_of(shape);
  constexpr int rounds = 5;
  auto values = distinct_values(DType::i32, count);
  std::vector<std::uint64_t> want;
  for (std::uint64_t value : values) {
    auto x = static_cast<std::uint32_t>(value);
    for (std::uint32_t k = 0; k < rounds; ++k) x = k % 2 == 1 ? 0u - x : 3u * x + k;
    want.push_back(x);
  }
  CaseBuilder c(fmt::format("loop_x{}", shape.lanes), shape);
  int in = c.input("in", DType::i32, from_bits(DType::i32, values));
  int out = c.output("out", DType::i32, from_bits(DType::i32, want));
  loop::Id end = c.param("rounds", DType::i32, rounds);
  loop::Builder& b = c.builder();
  loop::Id at = c.first_element();
  loop::Id x = b.var(b.load(in, at, shape.lanes));
  b.for_range(b.integer(DType::i32, 0), end, b.integer(DType::i32, 1), [&](loop::Id k) {
    loop::Id odd = b.compute(Intrinsic::bit_and, {k, b.integer(DType::i32, 1)});
    b.if_then(
        b.eq(odd, b.integer(DType::i32, 1)),
        [&] { b.set(x, b.compute(Intrinsic::neg, {b.get(x)})); },
        [&] {
          loop::Id three = b.mul(b.get(x), b.integer(DType::i32, 3, shape.lanes));
          b.set(x, b.add(three, b.splat(k, shape.lanes)));
        });
  });
  b.store(out, at, b.get(x));
  return c.finish(static_cast<std::int64_t>(count));
}

// Each thread writes, reads back and writes again: the order of accesses to one buffer.
inline LoopCase order_case(Shape shape) {
  std::size_t count = 2 * step_of(shape);
  auto values = distinct_values(DType::u32, count);
  std::vector<std::uint64_t> middle, want;
  for (std::uint64_t value : values) {
    auto x = static_cast<std::uint32_t>(value);
    middle.push_back(x + 1);
    want.push_back(2u * (x + 1));
  }
  CaseBuilder c(fmt::format("order_x{}", shape.lanes), shape);
  int data =
      c.in_place("data", DType::u32, from_bits(DType::u32, values), from_bits(DType::u32, want));
  int seen = c.output("seen", DType::u32, from_bits(DType::u32, middle));
  loop::Builder& b = c.builder();
  loop::Id at = c.first_element();
  b.store(data, at, b.add(b.load(data, at, shape.lanes), b.integer(DType::u32, 1, shape.lanes)));
  loop::Id again = b.load(data, at, shape.lanes);
  b.store(seen, at, again);
  b.scatter(data, b.ramp(at, shape.lanes), b.mul(again, b.integer(DType::u32, 2, shape.lanes)));
  return c.finish(static_cast<std::int64_t>(count));
}

inline std::vector<LoopCase> memory_cases(Shape shape) {
  std::vector<LoopCase> cases = {loop_case(shape), order_case(shape), count_case(shape)};
  for (DType type : memory_types) {
    for (int shift : {0, 1}) cases.push_back(copy_case(type, shape, shift, shift == 1));
    cases.push_back(copy_case(type, shape, 0, true));
    cases.push_back(gather_case(type, DType::i64, shape));
    for (int channels : {2, 3, 4}) cases.push_back(group_case(type, channels, shape, 0));
  }
  cases.push_back(gather_case(DType::f32, DType::i32, shape));
  for (DType type : {DType::u8, DType::u16, DType::f32}) {
    std::size_t bytes = size_of(type) * static_cast<std::size_t>(shape.lanes) * 3;
    std::size_t align = std::min<std::size_t>(16, bytes & ~(bytes - 1));
    if (align >= size_of(type))
      cases.push_back(group_case(type, 3, shape, static_cast<int>(align)));
  }
  for (DType type : {DType::u8, DType::i32, DType::u64, DType::f32, DType::f64})
    for (Intrinsic fn : {Intrinsic::add, Intrinsic::mul, Intrinsic::min, Intrinsic::max})
      cases.push_back(reduce_case(fn, type, shape));
  cases.push_back(reduce_case(Intrinsic::bit_xor, DType::u16, shape));
  cases.push_back(reduce_case(Intrinsic::bit_and, DType::bool_, shape));
  return cases;
}

}  // namespace fuseline::test
