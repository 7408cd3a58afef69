// Cases for every scalar operation of Loop IR: intrinsics, casts, select, bitcast, rounding.
#pragma once

#include "support/reference.hpp"

namespace fuseline::test {

inline constexpr DType register_types[] = {DType::bool_, DType::u8,  DType::i8,  DType::u16,
                                           DType::i16,   DType::u32, DType::i32, DType::u64,
                                           DType::i64,   DType::f32, DType::f64};

// Values at which operations go wrong.
inline std::vector<std::uint64_t> edge_values(DType type) {
  return with_type(type, [](auto zero) {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    std::vector<T> values;
    if constexpr (std::is_floating_point_v<T>) {
      T inf = Limits::infinity();
      values = {0,
                T(-0.0),
                1,
                -1,
                T(0.5),
                T(-0.5),
                T(1.5),
                T(2.5),
                T(-2.5),
                T(0.1),
                T(3.7),
                T(-3.7),
                T(0.999),
                T(1e-3),
                T(100.25),
                T(-77.5),
                T(255.9),
                T(256),
                T(-128.9),
                T(65535.5),
                T(2147483648.0),
                T(-2147483649.0),
                T(4294967296.0),
                T(9.3e18),
                T(-9.3e18),
                T(1.9e19),
                T(1e30),
                Limits::max(),
                Limits::lowest(),
                Limits::min(),
                Limits::denorm_min(),
                inf,
                -inf,
                Limits::quiet_NaN()};
    } else if constexpr (std::is_same_v<T, bool>) {
      values = {false, true};
    } else {
      values = {0,
                1,
                2,
                3,
                7,
                31,
                100,
                Limits::max(),
                T(Limits::max() - 1),
                T(Limits::max() / 2),
                T(Limits::max() / 2 + 1),
                Limits::min(),
                T(Limits::min() + 1),
                T(-1),
                T(-2),
                T(-77)};
    }
    std::vector<std::uint64_t> words;
    for (T value : values) words.push_back(to_word(value));
    return words;
  });
}

inline bool takes(Intrinsic fn, DType type) {
  switch (info(fn).cls) {
    case IntrinsicClass::arith:
      return !is_bool(type);
    case IntrinsicClass::real:
      return is_float(type);
    case IntrinsicClass::logic:
      return fn == Intrinsic::shl || fn == Intrinsic::shr ? is_integer(type) : !is_float(type);
    default:
      return true;
  }
}

// The builder guards what is left out here.
inline bool defined(Intrinsic fn, DType type, std::uint64_t a, std::uint64_t b) {
  if (!is_integer(type)) return true;
  std::uint64_t sign = std::uint64_t{1} << (8 * size_of(type) - 1);
  std::uint64_t minus_one = 2 * sign - 1;
  if (fn == Intrinsic::div || fn == Intrinsic::rem)
    return b != 0 && !(is_signed_integer(type) && a == sign && b == minus_one);
  if (fn == Intrinsic::shl || fn == Intrinsic::shr) return b < 8 * size_of(type);
  return true;
}

// Repeats the columns until they fill blocks of `step` elements.
inline void fill_up(std::vector<std::uint64_t>& column, std::size_t step) {
  for (std::size_t i = 0; column.size() % step != 0; ++i) column.push_back(column[i]);
}

// How far a target's result may be from the correctly rounded one.
inline int ulps_of(Intrinsic fn, DType type) {
  if (info(fn).cls != IntrinsicClass::real && fn != Intrinsic::pow && fn != Intrinsic::atan2)
    return 0;
  switch (fn) {
    case Intrinsic::floor:
    case Intrinsic::ceil:
    case Intrinsic::trunc:
    case Intrinsic::rint:
    case Intrinsic::sqrt:
      return 0;
    default:
      return type == DType::f32 ? 4 : 2;
  }
}

inline LoopCase intrinsic_case(Intrinsic fn, DType type, Shape shape) {
  bool binary = info(fn).arity == 2;
  std::vector<std::uint64_t> a, b, want;
  for (std::uint64_t x : edge_values(type))
    for (std::uint64_t y : binary ? edge_values(type) : std::vector<std::uint64_t>{0}) {
      if (!defined(fn, type, x, y)) continue;
      a.push_back(x);
      b.push_back(y);
    }
  std::size_t step = static_cast<std::size_t>(shape.threads * shape.lanes);
  fill_up(a, step);
  fill_up(b, step);
  for (std::size_t i = 0; i < a.size(); ++i) want.push_back(reference(fn, type, a[i], b[i]));
  DType result = info(fn).cls == IntrinsicClass::cmp ? DType::bool_ : type;
  CaseBuilder c(fmt::format("{}_{}_x{}", info(fn).name, name_of(type), shape.lanes), shape);
  int in_a = c.input("a", type, from_bits(type, a));
  int in_b = binary ? c.input("b", type, from_bits(type, b)) : -1;
  int out = c.output("out", result, from_bits(result, want));
  loop::Id at = c.first_element();
  loop::Builder& build = c.builder();
  std::vector<loop::Id> args = {build.load(in_a, at, shape.lanes)};
  if (binary) args.push_back(build.load(in_b, at, shape.lanes));
  build.store(out, at, build.compute(fn, args));
  return c.finish(static_cast<std::int64_t>(a.size()), ulps_of(fn, type));
}

inline std::vector<LoopCase> intrinsic_cases(Shape shape) {
  std::vector<LoopCase> cases;
  for (int i = 0; i < intrinsic_count; ++i)
    for (DType type : register_types)
      if (takes(static_cast<Intrinsic>(i), type))
        cases.push_back(intrinsic_case(static_cast<Intrinsic>(i), type, shape));
  return cases;
}

inline LoopCase cast_case(DType from, DType to, loop::CastMode mode, Shape shape) {
  std::vector<std::uint64_t> in, want;
  for (std::uint64_t x : edge_values(from))
    if (mode == loop::CastMode::saturate || cast_in_range(from, to, x)) in.push_back(x);
  fill_up(in, static_cast<std::size_t>(shape.threads * shape.lanes));
  for (std::uint64_t x : in) want.push_back(cast_reference(from, to, x));
  bool saturates = mode == loop::CastMode::saturate;
  CaseBuilder c(fmt::format("{}_{}_to_{}_x{}", saturates ? "saturate" : "cast", name_of(from),
                            name_of(to), shape.lanes),
                shape);
  int a = c.input("a", from, from_bits(from, in));
  int out = c.output("out", to, from_bits(to, want));
  loop::Id at = c.first_element();
  loop::Builder& build = c.builder();
  build.store(out, at, build.cast(to, build.load(a, at, shape.lanes), mode));
  return c.finish(static_cast<std::int64_t>(in.size()));
}

inline std::vector<LoopCase> cast_cases(Shape shape) {
  std::vector<LoopCase> cases;
  for (DType from : register_types)
    for (DType to : register_types) {
      if (from == to) continue;
      cases.push_back(cast_case(from, to, loop::CastMode::plain, shape));
      if (is_float(from) && is_integer(to))
        cases.push_back(cast_case(from, to, loop::CastMode::saturate, shape));
    }
  return cases;
}

inline LoopCase bitcast_case(DType from, DType to, Shape shape) {
  std::vector<std::uint64_t> in = edge_values(from);
  fill_up(in, static_cast<std::size_t>(shape.threads * shape.lanes));
  CaseBuilder c(fmt::format("bitcast_{}_to_{}_x{}", name_of(from), name_of(to), shape.lanes),
                shape);
  int a = c.input("a", from, from_bits(from, in));
  int out = c.output("out", to, from_bits(to, in));
  loop::Id at = c.first_element();
  loop::Builder& build = c.builder();
  build.store(out, at, build.bitcast(to, build.load(a, at, shape.lanes)));
  return c.finish(static_cast<std::int64_t>(in.size()));
}

inline LoopCase round_case(DType memory, Shape shape) {
  std::vector<std::uint64_t> in = edge_values(DType::f32), want;
  for (std::uint32_t high = 0; high < 0x10000; high += 7)  // near every seventh pattern of 16 bits
    for (std::uint32_t low :
         {0x0000u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xf000u})
      in.push_back(high << 16 | low);
  fill_up(in, static_cast<std::size_t>(shape.threads * shape.lanes));
  bool brain = memory == DType::bf16;
  for (std::uint64_t x : in) {
    std::uint16_t half = float_to_bits16(from_word<float>(x), brain);
    want.push_back(to_word(brain ? bfloat_to_float(half) : half_to_float(half)));
  }
  CaseBuilder c(fmt::format("round_to_{}_x{}", name_of(memory), shape.lanes), shape);
  int a = c.input("a", DType::f32, from_bits(DType::f32, in));
  int out = c.output("out", DType::f32, from_bits(DType::f32, want));
  loop::Id at = c.first_element();
  loop::Builder& build = c.builder();
  build.store(out, at, build.round_to(memory, build.load(a, at, shape.lanes)));
  return c.finish(static_cast<std::int64_t>(in.size()));
}

// out = constant, for every edge value: constants are exact to the bit.
inline LoopCase constants_case(DType type, Shape shape) {
  std::vector<std::uint64_t> values = edge_values(type), want;
  std::size_t step = static_cast<std::size_t>(shape.threads * shape.lanes);
  for (std::uint64_t value : values) want.insert(want.end(), step, value);
  CaseBuilder c(fmt::format("constants_{}_x{}", name_of(type), shape.lanes), shape);
  int out = c.output("out", type, from_bits(type, want));
  loop::Builder& build = c.builder();
  loop::Id at = c.first_element();
  for (std::size_t i = 0; i < values.size(); ++i)
    build.store(out, build.add(at, build.integer(DType::i64, static_cast<std::int64_t>(i * step))),
                build.constant(type, values[i], shape.lanes));
  return c.finish(static_cast<std::int64_t>(step));
}

inline LoopCase select_case(DType type, Shape shape) {
  std::vector<std::uint64_t> a = edge_values(type), b, condition, want;
  fill_up(a, static_cast<std::size_t>(shape.threads * shape.lanes));
  b.assign(a.rbegin(), a.rend());
  for (std::size_t i = 0; i < a.size(); ++i) {
    condition.push_back(i % 3 == 1);
    want.push_back(i % 3 == 1 ? a[i] : b[i]);
  }
  CaseBuilder c(fmt::format("select_{}_x{}", name_of(type), shape.lanes), shape);
  int in_c = c.input("condition", DType::bool_, from_bits(DType::bool_, condition));
  int in_a = c.input("a", type, from_bits(type, a));
  int in_b = c.input("b", type, from_bits(type, b));
  int out = c.output("out", type, from_bits(type, want));
  loop::Builder& build = c.builder();
  loop::Id at = c.first_element();
  loop::Id chosen =
      build.select(build.load(in_c, at, shape.lanes), build.load(in_a, at, shape.lanes),
                   build.load(in_b, at, shape.lanes));
  build.store(out, at, chosen);
  return c.finish(static_cast<std::int64_t>(a.size()));
}

inline std::vector<LoopCase> value_cases(Shape shape) {
  std::vector<LoopCase> cases;
  for (DType type : register_types) {
    cases.push_back(constants_case(type, shape));
    cases.push_back(select_case(type, shape));
  }
  for (DType whole : {DType::u32, DType::i32}) {
    cases.push_back(bitcast_case(DType::f32, whole, shape));
    cases.push_back(bitcast_case(whole, DType::f32, shape));
  }
  for (DType whole : {DType::u64, DType::i64}) {
    cases.push_back(bitcast_case(DType::f64, whole, shape));
    cases.push_back(bitcast_case(whole, DType::f64, shape));
  }
  cases.push_back(round_case(DType::f16, shape));
  cases.push_back(round_case(DType::bf16, shape));
  return cases;
}

}  // namespace fuseline::test
