// Planted faults in hand-written kernels: each is found and named by the host simulator.
#include <gmock/gmock.h>

#include <thread>

#include "emit/host_support.hpp"
#include "fuseline/error.hpp"

namespace fuseline::test {
namespace {

using ::testing::HasSubstr;

class HostFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string why = host::compiler_missing(); !why.empty()) GTEST_SKIP() << why;
  }

  // Runs one block over in (u8[64], all 7) and out (u8[64]).
  static std::string fault_of(const std::string& body, int threads = 64, std::uint64_t seed = 0) {
    std::string text =
        fmt::format("KERNEL({}) k(IN(u8) in, OUT(u8) out) {{\n{}\n}}\n", threads, body);
    host::Kernels kernels({{"k", text, threads, {"in", "out"}}});
    AlignedCopy in(Bytes(64, 7)), out(Bytes(64, 0));
    return kernels.run(0, std::vector<host::Span>{{in.data(), 64}, {out.data(), 64}}, {}, 1, seed);
  }
};

TEST_F(HostFaults, a_kernel_without_a_fault_has_none) {
  EXPECT_EQ(fault_of("out[thread_id()] = in[63 - thread_id()];"), "");
}

TEST_F(HostFaults, read_outside_a_buffer) {
  std::string fault = fault_of("out[thread_id()] = in[thread_id() + 1];");
  EXPECT_EQ(fault, "k: block 0, thread 63: accesses in[64] of 64 elements");
}

TEST_F(HostFaults, write_outside_a_buffer) {
  EXPECT_THAT(fault_of("out[thread_id() - 1] = in[0];"), HasSubstr("accesses out[-1] of 64"));
}

TEST_F(HostFaults, wide_access_across_the_end) {
  std::string fault = fault_of("u8 m[16]; if (thread_id() == 0) load<16>(m, in + 56);");
  EXPECT_THAT(fault, HasSubstr("accesses in[56 .. 71] of 64 elements"));
}

TEST_F(HostFaults, misaligned_wide_access) {
  std::string fault = fault_of("u8 m[16]; if (thread_id() == 5) load<16>(m, in + 24);");
  EXPECT_THAT(fault,
              HasSubstr("thread 5: accesses 16 bytes at once at in[24], which is not aligned"));
  EXPECT_EQ(fault_of("u8 m[16]; if (thread_id() == 5) load<8>(m, in + 24);"), "");
}

TEST_F(HostFaults, misaligned_wide_store) {
  EXPECT_THAT(fault_of("u8 m[4] = {}; if (thread_id() == 0) store<4>(out + 2, m);"),
              HasSubstr("4 bytes at once at out[2]"));
}

TEST_F(HostFaults, deadlock_of_a_barrier_that_a_thread_never_reaches) {
  std::string fault = fault_of("if (thread_id() == 9) return;\nbarrier();");
  EXPECT_THAT(fault,
              HasSubstr("deadlock: thread 0 waits at the barrier of line 3, thread 9 has ended"));
}

TEST_F(HostFaults, two_different_barriers) {
  std::string fault = fault_of("if (thread_id() < 32) barrier();\nelse\nbarrier();");
  EXPECT_THAT(fault, HasSubstr("waits at the barrier of line 4, thread 0 at that of line 2"));
}

TEST_F(HostFaults, shuffle_that_half_of_a_warp_skips) {
  std::string fault = fault_of("i32 x = 0; if (thread_id() % 2) x = shuffle_down(x, 1);");
  EXPECT_THAT(fault, HasSubstr("deadlock: thread 1 waits at the warp operation of line 2"));
}

TEST_F(HostFaults, lanes_of_a_warp_at_different_operations) {
  std::string fault = fault_of(
      "i32 x = 0; if (thread_id() % 2) x = shuffle_down(x, 1);\n"
      "else x = ballot_count(true);");
  EXPECT_THAT(fault, HasSubstr("its warp stands at line"));
}

TEST_F(HostFaults, shared_memory_that_nothing_wrote) {
  std::string fault = fault_of("SHARED(u8, s, 64);\nout[thread_id()] = s[3];");
  EXPECT_THAT(fault, HasSubstr("reads s[3] before anything was written there"));
}

TEST_F(HostFaults, shared_array_overrun) {
  EXPECT_THAT(fault_of("SHARED(u8, s, 32);\ns[thread_id()] = 1;"),
              HasSubstr("thread 32: accesses s[32] of 32 elements"));
}

TEST_F(HostFaults, missing_barrier_is_a_race) {
  std::string fault = fault_of(
      "SHARED(u8, s, 64);\ns[thread_id()] = in[0];\n"
      "out[thread_id()] = s[thread_id() / 32 * 32];");
  EXPECT_THAT(fault,
              HasSubstr("thread 1: reads s[0], which thread 0 writes with no barrier between"));
}

TEST_F(HostFaults, missing_barrier_before_the_array_is_used_again) {
  std::string fault = fault_of(
      "SHARED(u8, s, 64);\ns[thread_id()] = in[0];\nbarrier();\n"
      "out[thread_id()] = s[63 - thread_id()];\ns[thread_id()] = 0;");
  EXPECT_THAT(fault, HasSubstr("with no barrier between"));
}

TEST_F(HostFaults, two_writers_of_one_shared_element) {
  EXPECT_THAT(fault_of("SHARED(u8, s, 64);\ns[thread_id() / 2] = in[0];"),
              HasSubstr("thread 1: writes s[0], which thread 0 writes"));
}

// Global memory is not recorded: there the order shows a missing barrier. Thread by thread, as
// they are numbered, this kernel works.
TEST_F(HostFaults, missing_barrier_shows_under_permuted_orders) {
  std::string text =
      "KERNEL(64) k(IN(u8) in, OUT(u8) out) {\n"
      "  out[thread_id()] = in[thread_id()];\n"
      "  const u8 before = out[thread_id() / 2];\n"
      "  barrier();\n"
      "  out[thread_id()] = before;\n}\n";
  host::Kernels kernels({{"k", text, 64, {"in", "out"}}});
  auto right = [&](std::uint64_t seed) {
    AlignedCopy in(Bytes(64, 7)), out(Bytes(64, 0));
    std::vector<host::Span> spans = {{in.data(), 64}, {out.data(), 64}};
    EXPECT_EQ(kernels.run(0, spans, {}, 1, seed), "");
    return out.bytes() == Bytes(64, 7);
  };
  EXPECT_TRUE(right(0));
  for (std::uint64_t seed = 1; seed < 20; ++seed) EXPECT_FALSE(right(seed)) << seed;
}

TEST_F(HostFaults, order_of_blocks_follows_the_seed) {
  // Blocks take tickets: block_id is written where the ticket points.
  std::string text =
      "KERNEL(32) k(OUT(u32) next, OUT(i64) order) {\n"
      "  if (thread_id() == 0) order[atomic_add(next + 0, 1u)] = block_id();\n}\n";
  host::Kernels kernels({{"k", text, 32, {"next", "order"}}});
  auto order_of = [&](std::uint64_t seed) {
    AlignedCopy next(Bytes(4, 0)), order(Bytes(8 * 16, 0));
    EXPECT_EQ(
        kernels.run(0, std::vector<host::Span>{{next.data(), 1}, {order.data(), 16}}, {}, 16, seed),
        "");
    std::vector<std::int64_t> blocks;
    for (std::size_t i = 0; i < 16; ++i) blocks.push_back(value_at<std::int64_t>(order.bytes(), i));
    return blocks;
  };
  std::vector<std::int64_t> natural = order_of(0), permuted = order_of(1);
  EXPECT_TRUE(std::is_sorted(natural.begin(), natural.end()));
  EXPECT_NE(permuted, natural);
  EXPECT_EQ(order_of(1), permuted);
  std::sort(permuted.begin(), permuted.end());
  EXPECT_EQ(permuted, natural);
}

TEST_F(HostFaults, a_run_after_a_fault_is_clean) {
  std::string text =
      "KERNEL(64) k(IN(u8) in, OUT(u8) out) { out[thread_id()] = in[thread_id()]; barrier(); }\n";
  host::Kernels kernels({{"k", text, 64, {"in", "out"}}});
  AlignedCopy in(Bytes(64, 7)), out(Bytes(64, 0));
  std::vector<host::Span> spans = {{in.data(), 40}, {out.data(), 64}};
  EXPECT_THAT(kernels.run(0, spans, {}, 1), HasSubstr("thread 40"));
  spans[0].elements = 64;
  EXPECT_EQ(kernels.run(0, spans, {}, 1), "");
  EXPECT_EQ(out.bytes(), Bytes(64, 7));
}

TEST_F(HostFaults, threads_of_the_host_may_run_kernels_at_once) {
  std::string text =
      "KERNEL(64) k(IN(u8) in, OUT(u8) out) {\n"
      "  SHARED(u8, s, 64);\n  s[thread_id()] = in[thread_id()];\n  barrier();\n"
      "  out[thread_id()] = s[63 - thread_id()];\n}\n";
  host::Kernels first({{"k", text, 64, {"in", "out"}}}), second({{"k", text, 64, {"in", "out"}}});
  auto work = [](const host::Kernels& kernels, std::uint8_t value) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      AlignedCopy in(Bytes(64, value)), out(Bytes(64, 0));
      std::vector<host::Span> spans = {{in.data(), 64}, {out.data(), 64}};
      EXPECT_EQ(kernels.run(0, spans, {}, 1, seed), "");
      EXPECT_EQ(out.bytes(), Bytes(64, value));
    }
  };
  std::vector<std::jthread> threads;
  for (std::uint8_t t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] { work(t % 2 ? first : second, t); });
}

TEST_F(HostFaults, undefined_behavior_aborts_where_it_is_checked) {
  std::string text = "KERNEL(1) k(IN(i32) in, OUT(i32) out) { out[0] = in[0] + in[0]; }\n";
  host::Kernels kernels({{"k", text, 1, {"in", "out"}}}, {.undefined_behavior = true});
  AlignedCopy in(bytes_of(std::vector<std::int32_t>{INT32_MAX})), out(Bytes(4, 0));
  std::vector<host::Span> spans = {{in.data(), 1}, {out.data(), 1}};
  EXPECT_DEATH(std::ignore = kernels.run(0, spans, {}, 1), "signed integer overflow");
}

TEST_F(HostFaults, a_text_that_does_not_compile_is_an_internal_error) {
#ifndef FUSELINE_ABORT_ON_INTERNAL_ERROR
  try {
    host::Kernels kernels({{"k", "KERNEL(1) k() { nonsense; }", 1, {}}});
    FAIL() << "the text was accepted";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nonsense"));
  }
#endif
}

}  // namespace
}  // namespace fuseline::test
