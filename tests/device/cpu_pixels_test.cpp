// Interleaved bytes, weighted sums and conditions on many lanes: the forms that have code of their
// own on x86. Inputs end and begin at pages that cannot be read.
#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include "device/cpu_support.hpp"
#include "support/reference.hpp"

namespace fuseline::test {
namespace {

// Memory between two pages without access; data stands at its very end or at its very start.
class FencedMemory {
 public:
  FencedMemory(std::size_t bytes, bool at_end) {
    auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::size_t room = (bytes + page - 1) / page * page;
    mapped_ = room + 2 * page;
    memory_ = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto* start = static_cast<std::uint8_t*>(memory_) + page;
    if (memory_ == MAP_FAILED || mprotect(start, room, PROT_READ | PROT_WRITE) != 0)
      throw std::runtime_error("no fenced memory");
    data_ = at_end ? start + room - bytes : start;
  }
  ~FencedMemory() { munmap(memory_, mapped_); }
  std::uint8_t* data() const { return data_; }

 private:
  void* memory_;
  std::size_t mapped_;
  std::uint8_t* data_;
};

constexpr int weights[4][4] = {
    {9798, 19235, 3735, 0}, {-4864, 255, 32767, -32768}, {1, -1, 77, 2}, {300, 0, -25, 9}};

// sum = the weighted channels + 7 - extra; flag = lowest <= sum and sum < highest or sum == 12.
loop::Kernel pixel_kernel(int channels, int lanes, int row) {
  loop::Kernel kernel;
  kernel.name = fmt::format("pixels_{}ch_x{}_w{}", channels, lanes, row);
  loop::Builder b(kernel);
  int in = b.add_buffer({"pixels", DType::u8, false}),
      extra = b.add_buffer({"extra", DType::i32, false});
  int sums = b.add_buffer({"sums", DType::i32, true}),
      flags = b.add_buffer({"flags", DType::u8, true});
  int counts = b.add_buffer({"counts", DType::i32, true});
  loop::Id low = b.param(b.add_param({"low", DType::i32}));
  loop::Id high = b.param(b.add_param({"high", DType::f32}));
  loop::Id at = b.mul(b.block_id(), b.integer(DType::i64, lanes));
  auto pixel = b.load_group(in, b.mul(at, b.integer(DType::i64, channels)), channels, lanes);
  auto weight = [&](int c) { return b.integer(DType::i32, weights[row][c], lanes); };
  loop::Id sum = b.integer(DType::i32, 7, lanes);
  for (int c = 0; c < channels; ++c)
    sum = b.add(sum, b.mul(weight(c), b.cast(DType::i32, pixel[static_cast<std::size_t>(c)])));
  sum = b.sub(sum, b.load(extra, at, lanes));
  loop::Id below = b.lt(b.cast(DType::f32, sum), b.splat(high, lanes));
  loop::Id within = b.compute(Intrinsic::bit_and, {b.le(b.splat(low, lanes), sum), below});
  loop::Id other = b.compute(Intrinsic::ne, {sum, b.integer(DType::i32, 12, lanes)});
  loop::Id flag = b.compute(Intrinsic::bit_or, {within, b.compute(Intrinsic::bit_not, {other})});
  b.store(sums, at, sum);
  b.store(flags, at,
          b.select(flag, b.integer(DType::u8, 255, lanes), b.integer(DType::u8, 3, lanes)));
  b.store(counts, b.block_id(), b.count_lanes(flag));
  return kernel;
}

struct Pixels {
  std::vector<std::int32_t> extra, sums, counts;
  Bytes flags;
};

Pixels expected(const std::uint8_t* in, const std::vector<std::int32_t>& extra, int channels,
                int lanes, int row, std::int32_t low, float high) {
  Pixels want{
      extra, {}, std::vector<std::int32_t>(extra.size() / static_cast<std::size_t>(lanes)), {}};
  for (std::size_t i = 0; i < extra.size(); ++i) {
    std::int32_t sum = 7 - extra[i];
    for (int c = 0; c < channels; ++c)
      sum += weights[row][c] *
             in[i * static_cast<std::size_t>(channels) + static_cast<std::size_t>(c)];
    bool flag = (low <= sum && static_cast<float>(sum) < high) || sum == 12;
    want.sums.push_back(sum);
    want.flags.push_back(flag ? 255 : 3);
    want.counts[i / static_cast<std::size_t>(lanes)] += flag;
  }
  return want;
}

void check_pixels(int channels, int lanes, int row, bool at_end) {
  Device& device = open_device("cpu");
  auto kernel = device.compile(pixel_kernel(channels, lanes, row));
  std::size_t blocks = 7, count = blocks * static_cast<std::size_t>(lanes);
  FencedMemory in(count * static_cast<std::size_t>(channels), at_end);
  std::mt19937 random(static_cast<unsigned>(channels * 100 + lanes));
  for (std::size_t i = 0; i < count * static_cast<std::size_t>(channels); ++i)
    in.data()[i] = static_cast<std::uint8_t>(random() >> 7);
  std::vector<std::int32_t> extra(count);
  for (std::int32_t& x : extra) x = static_cast<std::int32_t>(random() % 200000) - 100000;
  std::int32_t low = -20000;
  float high = 2.5e6f;
  Pixels want = expected(in.data(), extra, channels, lanes, row, low, high), got = want;
  got.sums.assign(count, 0);
  got.flags.assign(count, 0);
  got.counts.assign(blocks, -1);
  void* buffers[] = {in.data(), extra.data(), got.sums.data(), got.flags.data(), got.counts.data()};
  std::uint64_t params[] = {static_cast<std::uint32_t>(low), std::bit_cast<std::uint32_t>(high)};
  device.make_queue()->launch({.kernel = kernel.get(),
                               .buffers = buffers,
                               .params = params,
                               .blocks = static_cast<std::int64_t>(blocks)});
  EXPECT_EQ(got.sums, want.sums);
  EXPECT_EQ(got.flags, want.flags);
  EXPECT_EQ(got.counts, want.counts);
}

TEST(CpuPixels, weighted_sums_of_interleaved_channels) {
  for (int channels : {2, 3, 4})
    for (int lanes : {1, 2, 4, 8, 16, 32, 64})
      for (int row = 0; row < 4; ++row)
        for (bool at_end : {false, true}) {
          SCOPED_TRACE(fmt::format("{} channels, {} lanes, weights {}", channels, lanes, row));
          check_pixels(channels, lanes, row, at_end);
        }
}

// Every comparison of every 32-bit type, combined by every operation of logic, also inverted.
TEST(CpuPixels, conditions_of_many_lanes) {
  constexpr int lanes = 32;
  std::vector<LoopCase> cases;
  for (DType type : {DType::i32, DType::u32, DType::f32})
    for (Intrinsic fn : {Intrinsic::eq, Intrinsic::ne, Intrinsic::lt, Intrinsic::le})
      for (Intrinsic logic : {Intrinsic::bit_and, Intrinsic::bit_or, Intrinsic::bit_xor}) {
        CaseBuilder c(fmt::format("{}_{}_{}", info(fn).name, info(logic).name, name_of(type)),
                      {1, lanes});
        std::vector<std::uint64_t> a, b, counts, flags;
        for (std::uint64_t i = 0; i < 64; ++i) {
          a.push_back(i % 5 == 0 ? 0x40000000 : (i * 0x9e3779b9u) & 0xbfffffff);
          b.push_back(i % 3 == 0   ? a.back()
                      : i % 5 == 0 ? 0xc0000000
                                   : (i * 0x85ebca6bu) & 0xbfffffff);
        }
        auto truth = [&](std::uint64_t x, std::uint64_t y) {
          return reference(fn, type, x, y) != 0;
        };
        for (std::size_t i = 0; i < 64; ++i) {
          bool one = truth(a[i], b[i]), two = !truth(b[i], a[i]);
          flags.push_back(logic == Intrinsic::bit_and  ? one && two
                          : logic == Intrinsic::bit_or ? one || two
                                                       : one != two);
          if (i % lanes == 0) counts.push_back(0);
          counts.back() += flags.back();
        }
        int in_a = c.input("a", type, from_bits(type, a)),
            in_b = c.input("b", type, from_bits(type, b));
        int out = c.output("flags", DType::bool_, from_bits(DType::bool_, flags));
        int total = c.output("counts", DType::i32, from_bits(DType::i32, counts));
        loop::Builder& build = c.builder();
        loop::Id x = build.load(in_a, c.first_element(), lanes);
        loop::Id y = build.load(in_b, c.first_element(), lanes);
        loop::Id not_two = build.compute(Intrinsic::bit_not, {build.compute(fn, {y, x})});
        loop::Id flag = build.compute(logic, {build.compute(fn, {x, y}), not_two});
        build.store(out, c.first_element(), flag);
        build.store(total, build.block_id(), build.count_lanes(flag));
        cases.push_back(c.finish(64));
      }
  run_on_cpu(cases);
}

}  // namespace
}  // namespace fuseline::test
