// Accuracy of the mathematical functions on the CPU over all exponents, against long double.
#include <cmath>

#include "device/cpu_support.hpp"
#include "support/reference.hpp"

namespace fuseline::test {
namespace {

struct Function {
  Intrinsic fn;
  long double (*exact)(long double);
};

#define FUSELINE_FUNCTION(name)                                 \
  Function {                                                    \
    Intrinsic::name, [](long double x) { return std::name(x); } \
  }
constexpr Function functions[] = {
    FUSELINE_FUNCTION(exp),   FUSELINE_FUNCTION(log),   FUSELINE_FUNCTION(expm1),
    FUSELINE_FUNCTION(log1p), FUSELINE_FUNCTION(sin),   FUSELINE_FUNCTION(cos),
    FUSELINE_FUNCTION(tan),   FUSELINE_FUNCTION(asin),  FUSELINE_FUNCTION(acos),
    FUSELINE_FUNCTION(atan),  FUSELINE_FUNCTION(sinh),  FUSELINE_FUNCTION(cosh),
    FUSELINE_FUNCTION(tanh),  FUSELINE_FUNCTION(asinh), FUSELINE_FUNCTION(acosh),
    FUSELINE_FUNCTION(atanh), FUSELINE_FUNCTION(erf)};
#undef FUSELINE_FUNCTION

// Both signs, every exponent, `mantissas` mantissas spread over each and not the same in any two.
template <class T>
std::vector<T> samples(int mantissas) {
  constexpr bool narrow = sizeof(T) == 4;
  constexpr int digits = narrow ? 23 : 52, exponents = narrow ? 256 : 2048;
  std::vector<T> values;
  for (int sign = 0; sign < 2; ++sign)
    for (int e = 0; e < exponents; ++e)
      for (int i = 0; i < mantissas; ++i) {
        auto hash = (values.size() + 1) * 0x9e3779b97f4a7c15u >> (64 - digits);
        std::uint64_t mantissa = i == 0 ? 0 : i == 1 ? (std::uint64_t{1} << digits) - 1 : hash;
        std::uint64_t word = static_cast<std::uint64_t>(sign * exponents + e) << digits | mantissa;
        values.push_back(from_word<T>(word));
      }
  return values;
}

// out = fn(a), or fn(a, b).
loop::Kernel function_kernel(Intrinsic fn, DType type, int lanes) {
  loop::Kernel kernel;
  kernel.name = fmt::format("{}_{}_x{}", info(fn).name, name_of(type), lanes);
  loop::Builder b(kernel);
  int first = b.add_buffer({"a", type, false}), second = b.add_buffer({"b", type, false});
  int out = b.add_buffer({"out", type, true});
  loop::Id size = b.param(b.add_param({"size", DType::i64}));
  b.for_range(b.integer(DType::i64, 0), size, b.integer(DType::i64, lanes), [&](loop::Id i) {
    std::vector<loop::Id> args = {b.load(first, i, lanes)};
    if (info(fn).arity == 2) args.push_back(b.load(second, i, lanes));
    b.store(out, i, b.compute(fn, args));
  });
  return kernel;
}

template <class T>
std::vector<T> evaluate(Intrinsic fn, const std::vector<T>& a, const std::vector<T>& b, int lanes) {
  Device& device = open_device("cpu");
  auto kernel = device.compile(function_kernel(fn, dtype_of<T>(), lanes));
  std::vector<T> out(a.size());
  void* buffers[] = {const_cast<T*>(a.data()), const_cast<T*>(b.data()), out.data()};
  std::uint64_t params[] = {a.size()};
  device.make_queue()->launch(
      {.kernel = kernel.get(), .buffers = buffers, .params = params, .blocks = 1});
  return out;
}

// In units of the spacing of T's numbers around the exact value; 0 where both are NaN.
template <class T>
long double error_in_ulps(T got, long double exact) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(exact)) return std::isnan(got) ? 0 : 1e9L;
  auto rounded = static_cast<T>(exact);
  if (got == rounded) return 0;
  if (std::isnan(got)) return 1e9L;
  // Infinity counts as the number that would follow the largest.
  auto value = [](T x) {
    return std::isinf(x) ? std::copysign(2 * std::ldexp(1.0L, Limits::max_exponent - 1),
                                         static_cast<long double>(x))
                         : static_cast<long double>(x);
  };
  int exponent = exact == 0 ? Limits::min_exponent : std::ilogb(exact) + 1;
  exponent = std::max(std::min(exponent, Limits::max_exponent), Limits::min_exponent);
  long double limited = std::isinf(rounded) ? value(rounded) : exact;
  return std::fabs(value(got) - limited) / std::ldexp(1.0L, exponent - Limits::digits);
}

template <class T>
void expect_accurate(int mantissas, long double limit) {
  std::vector<T> in = samples<T>(mantissas);
  for (const Function& f : functions) {
    std::vector<T> got = evaluate(f.fn, in, in, 8);
    long double worst = 0;
    std::size_t where = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      long double error = error_in_ulps(got[i], f.exact(in[i]));
      if (error > worst) worst = error, where = i;
    }
    EXPECT_LE(worst, limit) << info(f.fn).name << "(" << fmt::format("{:a}", in[where])
                            << ") = " << fmt::format("{:a}", got[where]);
    ::testing::Test::RecordProperty(std::string(info(f.fn).name),
                                    fmt::format("{:.2f}", static_cast<double>(worst)));
  }
}

TEST(CpuMath, f32_is_within_4_ulps) { expect_accurate<float>(1000, 4); }

TEST(CpuMath, f64_is_within_4_ulps) { expect_accurate<double>(50, 4); }

template <class T>
void expect_accurate_pairs(long double limit) {
  std::vector<T> a, b;
  for (T x : samples<T>(3)) {
    // Bases of every size with exponents that keep the power in range, and any two quotients.
    T size = std::fabs(std::log2(std::fabs(x)));
    a.push_back(std::fabs(x));
    b.push_back(static_cast<T>(std::fmod(static_cast<double>(a.size()) * 0.7548776662, 40.0) - 20) /
                (size > 1 && size < 2000 ? size / 5 : T(1)));
  }
  for (auto [fn, exact] :
       {std::pair{Intrinsic::pow, +[](long double x, long double y) { return std::pow(x, y); }},
        std::pair{Intrinsic::atan2,
                  +[](long double x, long double y) { return std::atan2(x, y); }}}) {
    std::vector<T> got = evaluate(fn, a, b, 8);
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_LE(error_in_ulps(got[i], exact(a[i], b[i])), limit)
          << info(fn).name << "(" << a[i] << ", " << b[i] << ") = " << got[i];
  }
}

TEST(CpuMath, pow_and_atan2_are_within_4_ulps) {
  expect_accurate_pairs<float>(4);
  expect_accurate_pairs<double>(4);
}

// A row's last elements are computed one by one: they must not differ from the others.
TEST(CpuMath, one_lane_gives_the_same_bits_as_many) {
  std::vector<float> floats = samples<float>(8);
  std::vector<double> doubles = samples<double>(2);
  for (const Function& f : functions) {
    auto many = evaluate(f.fn, floats, floats, 32), one = evaluate(f.fn, floats, floats, 1);
    for (std::size_t i = 0; i < floats.size(); ++i)
      ASSERT_TRUE(same(DType::f32, to_word(many[i]), to_word(one[i]), 0))
          << info(f.fn).name << "(" << floats[i] << ")";
    auto wide = evaluate(f.fn, doubles, doubles, 16), single = evaluate(f.fn, doubles, doubles, 1);
    for (std::size_t i = 0; i < doubles.size(); ++i)
      ASSERT_TRUE(same(DType::f64, to_word(wide[i]), to_word(single[i]), 0))
          << info(f.fn).name << "(" << doubles[i] << ")";
  }
}

}  // namespace
}  // namespace fuseline::test
