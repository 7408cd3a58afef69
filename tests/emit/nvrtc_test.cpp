// Printed kernels compile with NVRTC for every architecture, without a word, and into the accesses
// that hand-written kernels use.
#include <gmock/gmock.h>

#include <algorithm>

#include "device/cuda/nvrtc.hpp"
#include "emit/cuda_c/prelude.hpp"
#include "emit/host_support.hpp"
#include "fuseline/error.hpp"
#include "support/arith_cases.hpp"
#include "support/mask_case.hpp"

namespace fuseline::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Nvrtc : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string why = cuda::nvrtc_missing(); !why.empty()) GTEST_SKIP() << why;
  }
  static cuda::CompileResult compile(const std::string& source, const std::string& arch) {
    return cuda::compile_cuda(source, "test", arch, nvrtc_options);
  }
  // One source with all kernels behind one prelude.
  static std::string together(const std::vector<LoopCase>& cases) {
    std::string bodies;
    for (const LoopCase& c : cases) bodies += print_cuda_body(c.kernel);
    return cuda_c::device_prelude(bodies) + bodies;
  }
};

std::vector<LoopCase> representative() {
  return {mask_case(5000, 256),
          whole_sum_case(5000, 7),
          reverse_case(DType::f16),
          histogram_case(DType::u64),
          shuffle_case(DType::bool_, 16),
          group_case(DType::u8, 3, {256, 16}, 16),
          group_case(DType::bf16, 4, {64, 8}, 16),
          intrinsic_case(Intrinsic::erf, DType::f32, {128, 4}),
          gather_case(DType::f32, DType::i32, {32, 4})};
}

TEST_F(Nvrtc, every_architecture_takes_the_kernels_without_a_warning) {
  std::vector<int> known = cuda::nvrtc_architectures();
  int compiled = 0;
  for (int sm : {75, 80, 86, 89, 90, 100, 120}) {
    if (std::find(known.begin(), known.end(), sm) == known.end()) continue;
    double slowest = 0, sum = 0;
    std::vector<LoopCase> cases = representative();
    for (const LoopCase& c : cases) {
      cuda::CompileResult r = compile(print_cuda(c.kernel), fmt::format("sm_{}", sm));
      EXPECT_EQ(r.log, "") << c.kernel.name;
      EXPECT_FALSE(r.is_ptx);
      EXPECT_THAT(r.code, HasSubstr(c.kernel.name));
      slowest = std::max(slowest, r.ms);
      sum += r.ms;
      ++compiled;
    }
    fmt::print("sm_{}: {:.0f} ms a kernel, slowest {:.0f} ms\n", sm,
               sum / static_cast<double>(cases.size()), slowest);
  }
  EXPECT_GT(compiled, 0) << "NVRTC " << cuda::nvrtc_version() << " knows none of the architectures";
}

TEST_F(Nvrtc, every_operation_of_every_type) {
  for (Shape shape : {Shape{32, 1}, Shape{32, 4}}) {
    EXPECT_EQ(compile(together(intrinsic_cases(shape)), "compute_80").log, "");
    EXPECT_EQ(compile(together(cast_cases(shape)), "compute_80").log, "");
    EXPECT_EQ(compile(together(value_cases(shape)), "compute_80").log, "");
    EXPECT_EQ(compile(together(memory_cases(shape)), "compute_80").log, "");
  }
  EXPECT_EQ(compile(together(thread_cases()), "compute_80").log, "");
}

TEST_F(Nvrtc, packed_pixels_are_read_as_three_words_of_16_bytes) {
  cuda::CompileResult r = compile(print_cuda(mask_case(5000, 256).kernel), "compute_90");
  EXPECT_TRUE(r.is_ptx);
  std::string wide = "ld.global.cs.v4.u32";
  std::size_t loads = 0;
  for (std::size_t at = r.code.find(wide); at != r.code.npos; at = r.code.find(wide, at + 1))
    ++loads;
  EXPECT_EQ(loads, 3u);
  EXPECT_THAT(r.code, HasSubstr("st.global.cs.v4.u32"));
  EXPECT_THAT(r.code, Not(HasSubstr(".local"))) << "the lanes are not in registers";
}

TEST_F(Nvrtc, only_buffers_that_nothing_writes_go_through_the_read_only_path) {
  std::string ptx = compile(print_cuda(order_case({32, 4}).kernel), "compute_80").code;
  EXPECT_THAT(ptx, Not(HasSubstr("ld.global.nc")));
  ptx = compile(print_cuda(copy_case(DType::f32, {32, 4}, 0, false).kernel), "compute_80").code;
  EXPECT_THAT(ptx, HasSubstr("ld.global.nc.v4"));
}

// A kernel that starts while the one before it still writes must not read in front of the wait.
TEST_F(Nvrtc, nothing_is_read_before_the_kernel_in_front_has_ended) {
  std::string ptx =
      compile(print_cuda(copy_case(DType::f32, {32, 4}, 0, false).kernel), "compute_90").code;
  EXPECT_THAT(ptx, Not(HasSubstr("ld.global.nc")));
  std::size_t wait = ptx.find("griddepcontrol.wait");
  ASSERT_NE(wait, ptx.npos);
  EXPECT_LT(wait, ptx.find("ld.global"));
  EXPECT_LT(wait, ptx.find("griddepcontrol.launch_dependents"));
}

TEST_F(Nvrtc, nothing_is_contracted_to_fused_multiply_add) {
  CaseBuilder c("mul_add", {32, 1});
  int in = c.input("in", DType::f32, Bytes(128, 0)),
      out = c.output("out", DType::f32, Bytes(128, 0));
  loop::Builder& b = c.builder();
  loop::Id at = c.first_element(), x = b.load(in, at);
  b.store(out, at, b.add(b.mul(x, x), x));
  EXPECT_THAT(compile(print_cuda(c.finish(32).kernel), "compute_90").code, Not(HasSubstr("fma")));
}

TEST_F(Nvrtc, a_wrong_source_is_an_internal_error_with_the_log) {
#ifndef FUSELINE_ABORT_ON_INTERNAL_ERROR
  try {
    compile("this is not CUDA", "sm_80");
    FAIL() << "the source was accepted";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("test.cu(1): error"));
  }
#endif
}

TEST_F(Nvrtc, an_unknown_architecture_is_a_device_error) {
  try {
    compile("extern \"C\" __global__ void k() {}", "sm_12345");
    FAIL() << "the architecture was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_THAT(error.what(), HasSubstr("sm_12345"));
  }
}

}  // namespace
}  // namespace fuseline::test
