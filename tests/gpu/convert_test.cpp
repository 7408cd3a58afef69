// Half and bfloat on the device, exhaustively, against base/half.hpp; counts and sums at every
// length around the borders of lanes, warps and blocks.
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/half.hpp"
#include "fuseline/ops.hpp"
#include "fuseline/program.hpp"
#include "gpu/support.hpp"

namespace fuseline::test {
namespace {

using Bits = std::vector<std::uint16_t>;

class Convert : public GpuTest {
 protected:
  static Tensor convert(DType from, DType to, const void* data, std::int64_t count) {
    Graph g;
    g.output("y", cast(g.input("x", from, {Dim::symbol("N")}), to));
    Program program = compile(g, {.device = "cuda"});
    return program.run({{"x", Tensor(data, from, {count})}})[0];
  }
  static Bits all_bits() {
    Bits bits(65536);
    std::iota(bits.begin(), bits.end(), std::uint16_t{0});
    return bits;
  }
  static std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

  static void expect_widened(bool brain) {
    Bits bits = all_bits();
    Tensor out = convert(brain ? DType::bf16 : DType::f16, DType::f32, bits.data(), 65536);
    int wrong = 0;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      float want = brain ? bfloat_to_float(bits[i]) : half_to_float(bits[i]);
      float got = out.as<float>()[i];
      if (std::isnan(want) ? std::isnan(got) : bits_of(got) == bits_of(want)) continue;
      ADD_FAILURE() << std::hex << bits[i] << " gives " << got << ", not " << want;
      if (++wrong == 5) return;
    }
  }

  // Every value of 16 bits, what lies beside it, the ties between it and the next, and theirs.
  static std::vector<float> floats_to_round(bool brain) {
    std::vector<float> floats;
    constexpr float up = std::numeric_limits<float>::infinity();
    for (std::uint32_t i = 0; i < 65536; ++i) {
      auto widen = [&](std::uint32_t b) {
        auto bits = static_cast<std::uint16_t>(b);
        return brain ? bfloat_to_float(bits) : half_to_float(bits);
      };
      float value = widen(i), next = widen(i + 1);
      float tie = static_cast<float>((static_cast<double>(value) + next) / 2);
      for (float f : {value, tie})
        floats.insert(floats.end(), {f, std::nextafter(f, up), std::nextafter(f, -up)});
    }
    return floats;
  }

  static void expect_rounded(bool brain) {
    std::vector<float> floats = floats_to_round(brain);
    Tensor out = convert(DType::f32, brain ? DType::bf16 : DType::f16, floats.data(),
                         static_cast<std::int64_t>(floats.size()));
    int wrong = 0;
    for (std::size_t i = 0; i < floats.size(); ++i) {
      std::uint16_t want = brain ? double_to_bfloat(floats[i]) : double_to_half(floats[i]);
      std::uint16_t got = out.as<std::uint16_t>()[i];
      std::uint32_t infinity = brain ? 0x7f80 : 0x7c00;
      if (std::isnan(floats[i]) ? (got & 0x7fffu) > infinity : got == want) continue;
      ADD_FAILURE() << std::hexfloat << floats[i] << " gives " << std::hex << got << ", not "
                    << want;
      if (++wrong == 5) return;
    }
  }
};

TEST_F(Convert, EveryHalfToFloat) { expect_widened(false); }
TEST_F(Convert, EveryBfloatToFloat) { expect_widened(true); }
TEST_F(Convert, FloatsAroundEveryHalf) { expect_rounded(false); }
TEST_F(Convert, FloatsAroundEveryBfloat) { expect_rounded(true); }

std::vector<std::int64_t> lengths() {
  std::vector<std::int64_t> all(70);
  std::iota(all.begin(), all.end(), 1);
  for (std::int64_t border : {128, 256, 512, 1024, 4096, 8192, 65536, 131072})
    for (std::int64_t off = -2; off <= 2; ++off) all.push_back(border + off);
  return all;
}

// u8 values are summed over a warp in 32 bits, counts over lanes, warps and blocks.
TEST_F(Convert, CountsAndSumsOfEveryLength) {
  Graph g;
  Value x = g.input("x", DType::u8, {Dim::symbol("N")});
  Value y = g.input("y", DType::i32, {Dim::symbol("N")});
  g.output("above", count(x > 100));
  g.output("sum", reduce_sum(cast(x, DType::i64)));
  g.output("wrapped", reduce_sum(y));
  Program program = compile(g, {.device = "cuda"});
  std::vector<std::uint8_t> bytes(140000);
  std::vector<std::int32_t> words(bytes.size());
  unsigned seed = 5;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    bytes[i] = static_cast<std::uint8_t>(seed >> 24);
    words[i] = static_cast<std::int32_t>(seed);
  }
  for (std::int64_t n : lengths())
    for (int run = 0; run < 3; ++run) {
      std::int64_t above = 0, sum = 0;
      std::uint32_t wrapped = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        auto at = static_cast<std::size_t>(i);
        above += bytes[at] > 100;
        sum += bytes[at];
        wrapped += static_cast<std::uint32_t>(words[at]);
      }
      auto out =
          program.run({{"x", Tensor::of(bytes.data(), {n})}, {"y", Tensor::of(words.data(), {n})}});
      ASSERT_EQ(*out[0].as<std::int64_t>(), above) << n;
      ASSERT_EQ(*out[1].as<std::int64_t>(), sum) << n;
      ASSERT_EQ(static_cast<std::uint32_t>(*out[2].as<std::int32_t>()), wrapped) << n;
    }
}

}  // namespace
}  // namespace fuseline::test
