// Loads, stores, groups, gathers, reductions and control flow on the CPU.
#include "device/cpu_support.hpp"
#include "support/memory_cases.hpp"

namespace fuseline::test {
namespace {

class CpuMemory : public ::testing::TestWithParam<int> {
 protected:
  Shape shape() const { return {1, GetParam()}; }
};

TEST_P(CpuMemory, accesses_reductions_and_control_flow) { run_on_cpu(memory_cases(shape())); }

// Both ways through all patterns: 16 bits -> f32 -> 16 bits.
TEST_P(CpuMemory, every_half_survives_a_round_trip) {
  std::vector<LoopCase> cases;
  for (DType type : {DType::f16, DType::bf16}) {
    std::vector<std::uint64_t> patterns, wide;
    for (std::uint64_t i = 0; i < 0x10000; ++i) {
      patterns.push_back(i);
      auto bits = static_cast<std::uint16_t>(i);
      wide.push_back(to_word(type == DType::f16 ? half_to_float(bits) : bfloat_to_float(bits)));
    }
    CaseBuilder c(fmt::format("round_trip_{}_x{}", name_of(type), GetParam()), shape());
    int in = c.input("in", type, from_bits(type, patterns));
    int out = c.output("out", type, from_bits(type, patterns));
    int floats = c.output("floats", DType::f32, from_bits(DType::f32, wide));
    loop::Builder& b = c.builder();
    loop::Id at = c.first_element(), x = b.load(in, at, GetParam());
    b.store(floats, at, x);
    b.store(out, at, x);
    cases.push_back(c.finish(0x10000));
  }
  run_on_cpu(cases);
}

INSTANTIATE_TEST_SUITE_P(lanes, CpuMemory, ::testing::Values(1, 4, 8, 16, 32, 64),
                         [](const auto& lanes) { return std::to_string(lanes.param); });

// Blocks add to one counter; the one that sees the last ticket sums all partial results.
TEST(CpuThreads, the_last_block_finishes_a_reduction) {
  constexpr std::int64_t blocks = 1000, per_block = 64;
  loop::Kernel kernel;
  kernel.name = "last_block";
  loop::Builder b(kernel);
  int in = b.add_buffer({"in", DType::i32, false});
  int partial = b.add_buffer({"partial", DType::i64, true});
  int ticket = b.add_buffer({"ticket", DType::u32, true});
  int total = b.add_buffer({"total", DType::i64, true});
  auto i64 = [&](std::int64_t v) { return b.integer(DType::i64, v); };
  loop::Id first = b.mul(b.block_id(), i64(per_block)), sum = b.var(i64(0));
  b.for_range(first, b.add(first, i64(per_block)), i64(8), [&](loop::Id i) {
    b.set(sum,
          b.add(b.get(sum), b.reduce_lanes(Intrinsic::add, b.cast(DType::i64, b.load(in, i, 8)))));
  });
  b.store(partial, b.block_id(), b.get(sum));
  b.fence();
  loop::Id mine = b.atomic_add(ticket, i64(0), b.integer(DType::u32, 1));
  loop::Id last = b.eq(b.cast(DType::i64, mine), b.sub(b.block_count(), i64(1)));
  b.if_then(last, [&] {
    b.fence();
    loop::Id all = b.var(i64(0));
    b.for_range(i64(0), b.block_count(), i64(1),
                [&](loop::Id i) { b.set(all, b.add(b.get(all), b.load(partial, i))); });
    b.store(total, i64(0), b.get(all));
  });
  Device& device = open_device("cpu");
  auto compiled = device.compile(kernel);
  std::vector<std::int32_t> data(blocks * per_block);
  std::int64_t want = 0;
  for (std::size_t i = 0; i < data.size(); ++i)
    want += data[i] = static_cast<std::int32_t>(i * 2654435761u);
  auto queue = device.make_queue();
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> partials(blocks, -1), result(1, -1);
    std::vector<std::uint32_t> tickets(1, 0);
    void* buffers[] = {data.data(), partials.data(), tickets.data(), result.data()};
    queue->launch({.kernel = compiled.get(), .buffers = buffers, .blocks = blocks});
    queue->wait();
    ASSERT_EQ(result[0], want) << "round " << round;
    ASSERT_EQ(tickets[0], blocks);
  }
}

// An element beyond 2^31, and a byte beyond 2^32, of memory that is reserved but not filled.
TEST(CpuMemoryLimits, indices_beyond_31_bits) {
  constexpr std::int64_t far = (std::int64_t{1} << 31) + 12345;
  loop::Kernel kernel;
  kernel.name = "far_index";
  loop::Builder b(kernel);
  int data = b.add_buffer({"data", DType::u16, true});
  loop::Id offset = b.param(b.add_param({"offset", DType::i64}));
  loop::Id value = b.load(data, b.add(offset, b.block_id()), 8);
  b.store(data, b.add(b.add(offset, b.block_id()), b.integer(DType::i64, 8)),
          b.add(value, b.integer(DType::u16, 1, 8)));
  Device& device = open_device("cpu");
  auto compiled = device.compile(kernel);
  auto memory = device.allocate(2 * (far + 64));
  auto* elements = static_cast<std::uint16_t*>(memory.get());
  for (int i = 0; i < 8; ++i) elements[far + i] = static_cast<std::uint16_t>(100 + i);
  void* buffers[] = {elements};
  std::uint64_t params[] = {static_cast<std::uint64_t>(far)};
  device.make_queue()->launch(
      {.kernel = compiled.get(), .buffers = buffers, .params = params, .blocks = 1});
  for (int i = 0; i < 8; ++i) EXPECT_EQ(elements[far + 8 + i], 101 + i);
}

}  // namespace
}  // namespace fuseline::test
