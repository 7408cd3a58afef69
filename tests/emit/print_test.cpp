// The text of printed CUDA C: what people read in `explain --kernels` and what NVRTC gets.
#include "emit/cuda_c/print.hpp"

#include <gmock/gmock.h>

#include "emit/cuda_c/prelude.hpp"
#include "fuse/loop_builder.hpp"
#include "fuseline/error.hpp"

namespace fuseline {
namespace {

using loop::Builder;
using loop::Id;
using loop::Kernel;
using ::testing::HasSubstr;
using ::testing::Not;

Kernel scale_kernel() {
  Kernel k;
  k.name = "scale";
  k.threads = 128;
  Builder b(k);
  int in = b.add_buffer({"conv1/out:0", DType::u8}), out = b.add_buffer({"y", DType::f16, true});
  Id factor = b.param(b.add_param({"factor", DType::f32}));
  Id thread = b.thread_id(), eight = b.integer(DType::i32, 8);
  Id at = b.mul(thread, eight);
  Id x = b.cast(DType::f32, b.load(in, at, 8, 8, true));
  b.add(at, at);  // nobody uses it
  b.store(out, at, b.mul(x, b.splat(factor, 8)), 16);
  return k;
}

TEST(PrintCuda, lanes_become_one_unrolled_loop_between_wide_accesses) {
  EXPECT_EQ(print_cuda_body(scale_kernel()),
            "KERNEL(128) scale(IN(u8) b0_conv1_out_0, OUT(f16) b1_y, f32 p0_factor) {\n"
            "  const i32 v1 = thread_id();\n"
            "  const i32 v3 = (i32)((u32)v1 * (u32)8);\n"
            "  await_inputs();\n"
            "  alignas(16) u8 m0[8];\n"
            "  load_stream<8>(m0, b0_conv1_out_0 + v3);\n"
            "  alignas(16) f16 m1[8];\n"
            "  #pragma unroll\n"
            "  for (i32 l = 0; l < 8; ++l) {\n"
            "    const f32 v5 = (f32)m0[l];\n"
            "    const f32 v8 = v5 * p0_factor;\n"
            "    m1[l] = to_f16(v8);\n"
            "  }\n"
            "  store<16>(b1_y + v3, m1);\n"
            "}\n");
}

TEST(PrintCuda, is_the_same_for_the_same_kernel) {
  EXPECT_EQ(print_cuda(scale_kernel()), print_cuda(scale_kernel()));
}

TEST(PrintCuda, includes_nothing_and_brings_only_the_helpers_it_uses) {
  std::string text = print_cuda(scale_kernel());
  EXPECT_THAT(text, Not(HasSubstr("#include")));
  EXPECT_THAT(text, HasSubstr("to_f16(f32 x)"));
  EXPECT_THAT(text, HasSubstr("load_stream"));
  for (const char* helper :
       {"from_f16", "SHARED", "shuffle_down", "atomic_add", "saturate", "barrier"})
    EXPECT_THAT(text, Not(HasSubstr(helper)));
}

TEST(PrintCuda, helpers_bring_what_they_use) {
  std::string prelude = cuda_c::device_prelude("store<16>(p, m0);");
  EXPECT_THAT(prelude, HasSubstr("struct chunk"));
  EXPECT_THAT(prelude, HasSubstr("put("));
  EXPECT_THAT(prelude, Not(HasSubstr("fetch")));
  EXPECT_THAT(cuda_c::device_prelude("restore(1); store_me;"), Not(HasSubstr("struct chunk")))
      << "a helper's name inside another word";
}

TEST(PrintCuda, stores_stay_in_order_with_loads_of_what_they_write) {
  Kernel k;
  k.name = "order";
  Builder b(k);
  int data = b.add_buffer({"data", DType::i32, true}),
      out = b.add_buffer({"out", DType::i32, true});
  Id zero = b.integer(DType::i64, 0);
  Id x = b.load(data, zero, 4);
  b.store(data, zero, b.compute(Intrinsic::neg, {x}));
  b.store(out, zero, b.load(data, zero, 4));
  std::string text = print_cuda_body(k);
  std::size_t store = text.find("store<4>(b0_data"), second = text.find("load<4>(m2, b0_data");
  ASSERT_NE(store, text.npos);
  ASSERT_NE(second, text.npos) << text;
  EXPECT_LT(store, second);
}

TEST(PrintCuda, only_loops_over_what_vectors_left_are_kept_from_unrolling) {
  Kernel k;
  k.name = "remainder";
  Builder b(k);
  int out = b.add_buffer({"out", DType::i32, true});
  Id n = b.param(b.add_param({"n", DType::i64}));
  Id zero = b.integer(DType::i64, 0), one = b.integer(DType::i64, 1);
  auto store = [&](Id i) { b.store(out, i, b.integer(DType::i32, 7)); };
  b.for_range(zero, n, b.integer(DType::i64, 256), store);
  b.for_range(zero, b.integer(DType::i64, 3), one, store);
  EXPECT_THAT(print_cuda_body(k), Not(HasSubstr("unroll")));
  b.for_range(zero, n, one, store);
  EXPECT_THAT(print_cuda_body(k), HasSubstr("#pragma unroll 1\n  for (i64 v"));
}

TEST(PrintCuda, more_shared_memory_than_a_block_has_is_refused) {
  Kernel k;
  k.name = "big";
  k.threads = 32;
  Builder b(k);
  b.add_buffer({"tile", DType::f64, true, loop::Space::shared, 6145});
#ifdef FUSELINE_ABORT_ON_INTERNAL_ERROR
  EXPECT_DEATH(print_cuda(k), "shared memory");
#else
  EXPECT_THROW(print_cuda(k), InternalError);
#endif
  k.buffers[0].elements = 6144;
  EXPECT_NO_THROW(print_cuda(k));
}

}  // namespace
}  // namespace fuseline
