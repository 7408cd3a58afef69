// The run-length deflate stream, read back by zlib; Huffman codes; the checksum.
#include "frames/encode/deflate.hpp"

#include <zlib.h>

#include "frames/encode/huffman.hpp"
#include "frames/support.hpp"

namespace fuseline::test {
namespace {

Bytes inflated(const Bytes& stream, std::size_t size) {
  Bytes out(size + 1);
  uLongf length = out.size();
  EXPECT_EQ(uncompress(out.data(), &length, stream.data(), stream.size()), Z_OK);
  out.resize(length);
  return out;
}

Bytes deflated(const Bytes& data, std::size_t block) {
  RunDeflate stream;
  std::span<const std::uint8_t> left(data);
  while (left.size() > block) {
    stream.add(left.first(block), false);
    left = left.subspan(block);
  }
  stream.add(left, true);
  return stream.bytes();
}

void expect_round_trip(const Bytes& data) {
  for (std::size_t block : {std::size_t{100}, std::size_t{65537}, data.size() + 1}) {
    if (data.size() / block > 3000) continue;
    EXPECT_EQ(inflated(deflated(data, block), data.size()), data) << "blocks of " << block;
  }
}

TEST(RunDeflate, SmallestStreams) {
  expect_round_trip({});
  expect_round_trip({0});
  expect_round_trip({255, 0});
  expect_round_trip({7, 7, 7, 7});
}

TEST(RunDeflate, EveryRunLength) {
  for (std::size_t length = 1; length < 1100; ++length) {
    Bytes data(length, 200);
    data.push_back(3);
    EXPECT_EQ(inflated(deflated(data, data.size()), data.size()), data) << length;
  }
}

TEST(RunDeflate, RandomRuns) {
  std::mt19937 random(3);
  for (unsigned longest : {2u, 5u, 40u, 300u, 5000u})
    for (unsigned values : {2u, 3u, 256u}) {
      Bytes data;
      while (data.size() < 200000)
        data.insert(data.end(), 1 + random() % longest,
                    static_cast<std::uint8_t>(random() % values * (values == 2 ? 255 : 1)));
      expect_round_trip(data);
    }
}

TEST(RunDeflate, NoiseGrowsLittle) {
  Bytes data = noise(300000);
  expect_round_trip(data);
  EXPECT_LT(deflated(data, 65536).size(), data.size() + data.size() / 100);
}

// Frequencies like Fibonacci numbers ask for codes longer than deflate allows.
TEST(RunDeflate, SkewedValuesKeepToTheLongestCode) {
  Bytes data;
  std::size_t previous = 1, count = 1;
  for (int value = 0; value < 26; ++value) {
    for (std::size_t i = 0; i < count; ++i) data.push_back(static_cast<std::uint8_t>(value));
    count += std::exchange(previous, count);
  }
  std::mt19937 random(11);
  std::shuffle(data.begin(), data.end(), random);
  expect_round_trip(data);
}

double kraft_sum(const std::vector<std::uint8_t>& lengths) {
  double sum = 0;
  for (std::uint8_t length : lengths)
    if (length) sum += 1.0 / static_cast<double>(1 << length);
  return sum;
}

TEST(Huffman, CodesAreCompleteAndShortEnough) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    int longest = round % 2 ? 15 : 7;
    std::vector<std::uint32_t> frequencies(round % 2 ? 286 : 19);
    for (auto& f : frequencies) f = random() % 3 ? 1u << random() % 28 : 0;
    frequencies[0] = frequencies[1] = 1;
    std::vector<std::uint8_t> lengths(frequencies.size());
    huffman_lengths(frequencies, longest, lengths);
    EXPECT_EQ(kraft_sum(lengths), 1.0);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      EXPECT_EQ(lengths[i] == 0, frequencies[i] == 0);
      EXPECT_LE(lengths[i], longest);
    }
  }
}

TEST(Huffman, OptimalWhereTheLimitDoesNotBind) {
  std::vector<std::uint32_t> frequencies = {45, 13, 12, 16, 9, 5};
  std::vector<std::uint8_t> lengths(6);
  huffman_lengths(frequencies, 15, lengths);
  EXPECT_EQ(lengths, (std::vector<std::uint8_t>{1, 3, 3, 3, 4, 4}));
}

// The example of RFC 1951, 3.2.2, its codes with the first bit lowest.
TEST(Huffman, CanonicalCodes) {
  std::vector<std::uint8_t> lengths = {3, 3, 3, 3, 3, 2, 4, 4};
  std::vector<std::uint16_t> codes(8);
  huffman_codes(lengths, codes);
  EXPECT_EQ(codes,
            (std::vector<std::uint16_t>{0b010, 0b110, 0b001, 0b101, 0b011, 0b00, 0b0111, 0b1111}));
}

TEST(Adler, EqualsZlib) {
  EXPECT_EQ(adler32_of(0x12345678, {}), 0x12345678u);
  for (std::size_t size : {1u, 15u, 2047u, 2048u, 2049u, 100003u})
    for (bool full : {false, true}) {
      Bytes data = full ? Bytes(size, 255) : noise(size);
      EXPECT_EQ(adler32_of(1, data), adler32_z(1, data.data(), size));
      EXPECT_EQ(adler32_of(0xfff0fff0, data), adler32_z(0xfff0fff0, data.data(), size));
    }
}

}  // namespace
}  // namespace fuseline::test
