// The preludes' f16 and bf16 conversions on the host, for all bit patterns that matter.
#include "emit/host_support.hpp"

namespace fuseline::test {
namespace {

struct Conversion {
  const char* name;
  bool brain;
};

class HalfPrelude : public ::testing::TestWithParam<Conversion> {
 protected:
  void SetUp() override {
    if (std::string why = host::compiler_missing(); !why.empty()) GTEST_SKIP() << why;
  }
  std::uint16_t to_bits(float x) const { return float_to_bits16(x, GetParam().brain); }
  float to_float(std::uint16_t h) const {
    return GetParam().brain ? bfloat_to_float(h) : half_to_float(h);
  }
  // Runs `statement` over n elements in blocks of 1024.
  static Bytes convert(const std::string& from, const std::string& to, const std::string& statement,
                       const Bytes& in, std::size_t out_bytes) {
    std::string text = fmt::format(
        "KERNEL(1) k(IN({}) in, OUT({}) out) {{\n"
        "  for (i64 i = block_id() * 1024; i < (block_id() + 1) * 1024; ++i) {}\n}}\n",
        from, to, statement);
    host::Kernels kernels({{"k", text, 1, {"in", "out"}}});
    AlignedCopy source(in), target(Bytes(out_bytes, 0));
    std::size_t n = from == "f32" ? in.size() / 4 : in.size() / 2;
    auto count = static_cast<std::int64_t>(n);
    EXPECT_EQ(n % 1024, 0u);
    EXPECT_EQ(
        kernels.run(0, std::vector<host::Span>{{source.data(), count}, {target.data(), count}}, {},
                    count / 1024),
        "");
    return target.bytes();
  }
};

TEST_P(HalfPrelude, widening_of_all_65536_patterns) {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  std::string type = GetParam().name;
  Bytes got = convert(type, "f32", fmt::format("out[i] = from_{}(in[i]);", type), bytes_of(all),
                      4 * all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_TRUE(same(DType::f32, bits_at(got, DType::f32, i),
                     std::bit_cast<std::uint32_t>(to_float(all[i])), 0))
        << std::hex << i;
}

// Every float whose low bits decide the rounding: each upper 16 bits with the ties of both
// formats, their neighbours, and the ends.
TEST_P(HalfPrelude, narrowing_rounds_to_nearest_even) {
  std::vector<float> in;
  for (std::uint32_t high = 0; high < 0x10000; ++high)
    for (std::uint32_t low :
         {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x2fffu, 0x3000u, 0x3001u, 0x5000u, 0x7000u,
          0x7fffu, 0x8000u, 0x8001u, 0x9000u, 0xf000u, 0xffffu})
      in.push_back(std::bit_cast<float>(high << 16 | low));
  std::string type = GetParam().name;
  Bytes got = convert("f32", type, fmt::format("out[i] = to_{}(in[i]);", type), bytes_of(in),
                      2 * in.size());
  DType dtype = GetParam().brain ? DType::bf16 : DType::f16;
  for (std::size_t i = 0; i < in.size(); ++i)
    ASSERT_TRUE(same(dtype, value_at<std::uint16_t>(got, i), to_bits(in[i]), 0))
        << std::hex << std::bit_cast<std::uint32_t>(in[i]) << " gave "
        << value_at<std::uint16_t>(got, i);
}

INSTANTIATE_TEST_SUITE_P(Both, HalfPrelude,
                         ::testing::Values(Conversion{"f16", false}, Conversion{"bf16", true}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace fuseline::test
