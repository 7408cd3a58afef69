// fuseline kernel: contracts, and foreign kernels that keep or break them.
#include "cli/kernel_text.hpp"
#include "cli/support.hpp"

namespace fuseline::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Kernel : public CliTest {
 protected:
  void write(const std::string& name, const std::string& text) const {
    file(name, Bytes(text.begin(), text.end()));
  }
  Outcome check(const std::string& text, std::vector<std::string> more = {"mask"}) const {
    write("k.cu", text);
    std::vector<std::string> words = {"kernel", "check", "k.cu", "--device", "cpu"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  static bool has_nvrtc(const Outcome& outcome) {
    return outcome.out.find("not compiled by NVRTC") == outcome.out.npos;
  }
};

TEST_F(Kernel, SpecTellsTheContract) {
  Outcome spec = run({"kernel", "spec", "mask", "--threshold", "99"});
  EXPECT_EQ(spec.code, 0) << spec.err;
  for (const char* part : {"extern \"C\" __global__ void mask_kernel(const unsigned char*",
                           "u8[H, W, 3]", "int W", "constant 99", "(9798 R + 19235",
                           "n = H*W elements", "sm_75", "must be equal", "zeros when the kernel"})
    EXPECT_THAT(spec.out, HasSubstr(part));
  nlohmann::json json = run({"kernel", "spec", "mask", "--area-only", "--json"}).json();
  EXPECT_EQ(json["kernel"], "mask_kernel");
  ASSERT_EQ(json["arguments"].size(), 4u);
  EXPECT_EQ(json["arguments"][1]["type"], "long long*");
  EXPECT_EQ(json["elements"], "H*W");
}

TEST_F(Kernel, SkeletonIsCheckedAndNeverOverwrites) {
  EXPECT_EQ(run({"kernel", "spec", "mask", "--skeleton", "new.cu"}).code, 0);
  Outcome again = run({"kernel", "spec", "mask", "--skeleton", "new.cu"});
  EXPECT_EQ(again.code, 2);
  expect_one_line(again.err, "new.cu exists");
  // It compiles and stays inside its buffers; what it does not store is told.
  Outcome outcome = run({"kernel", "check", "new.cu", "mask", "--device", "cpu"});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("mask[0, 0]: expected"), Not(HasSubstr("guard"))));
}

TEST_F(Kernel, RightOnePasses) {
  Outcome outcome = check(right_kernel);
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("PASSED"), HasSubstr("the host simulator")));
  if (has_nvrtc(outcome)) {
    EXPECT_THAT(outcome.out, AllOf(HasSubstr(" registers"), HasSubstr("0 bytes spilled")));
  }
  nlohmann::json json = check(right_kernel, {"mask", "--json"}).json();
  EXPECT_EQ(json["passed"], true);
  EXPECT_EQ(json["runs"], json["planned"]);
  EXPECT_GT(json["runs"].get<int>(), 30);
}

TEST_F(Kernel, IgnoredTailIsOutOfBounds) {
  Outcome outcome = check(replaced(right_kernel, "i < first + 4 && i < n", "i < first + 4"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("H=1 W=1 (frame+0 mask+0 area+0): block 0, thread 0: accesses "
                                     "frame[3] of 3 elements"));
}

TEST_F(Kernel, ThresholdOffByOneIsToldWithThePixel) {
  Outcome outcome = check(replaced(right_kernel, "gray > 127 ?", "gray >= 127 ?"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("expected 0, got 255"));
  EXPECT_THAT(outcome.out, HasSubstr("holds 127 127 127"));
  // The same kernel is right for the pipeline that it computes.
  EXPECT_THAT(check(right_kernel, {"mask", "--threshold", "126"}).out,
              HasSubstr("expected 255, got 0"));
}

TEST_F(Kernel, MisalignedWideLoadIsTold) {
  std::string wide = replaced(right_kernel, "frame[3 * i] +", "(int)(word << 24 >> 24) +");
  wide = replaced(wide, "int gray =",
                  "if (3 * i + 4 > 3 * n) continue;\n"
                  "    unsigned word = *(const unsigned int*)(frame + 3 * i);\n    int gray =");
  Outcome outcome = check(wide);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("accesses 4 bytes at once at frame["), HasSubstr("not aligned")));
}

TEST_F(Kernel, AlignmentWishIsHeeded) {
  nlohmann::json plain = check(right_kernel, {"mask", "--json"}).json();
  std::string text = replaced(right_kernel, "items=4", "items=4 align=16");
  nlohmann::json aligned = check(text, {"mask", "--json"}).json();
  EXPECT_EQ(aligned["passed"], true);
  EXPECT_LT(aligned["runs"].get<int>(), plain["runs"].get<int>());
}

TEST_F(Kernel, MissingBarrierIsTold) {
  std::size_t last = std::string(right_kernel).rfind("__syncthreads();");
  std::string text = right_kernel;
  Outcome outcome = check(text.erase(last, std::string("__syncthreads();").size()));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("area: expected"));
}

TEST_F(Kernel, EndlessPointerEndsTheChildOnly) {
  Outcome outcome = check(replaced(right_kernel, "mask[i] = gray", "mask[i + (1ll << 40)] = gray"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("crashed"));
}

TEST_F(Kernel, SyntaxErrorGivesTheCompilersText) {
  Outcome outcome = check(replaced(right_kernel, "int n = H * W,", "int n = H * ,"));
  EXPECT_EQ(outcome.code, 1);
  // NVRTC's words, or those of the host's compiler on a machine without NVRTC.
  EXPECT_THAT(outcome.out, testing::AnyOf(AllOf(HasSubstr("k.cu(9): error"),
                                                HasSubstr("expected an expression")),
                                          HasSubstr("k.cu:9:")));
}

TEST_F(Kernel, AnotherFunctionOrSignatureIsTold) {
  Outcome other = check(replaced(right_kernel, "mask_kernel", "threshold"));
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.out, HasSubstr("k.cu has no function mask_kernel; it defines threshold"));
  Outcome wrong = check(replaced(right_kernel, "int H, int W", "long H, int W"));
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.out, HasSubstr("mask_kernel must be of the type void(const unsigned char*"));
}

TEST_F(Kernel, TwoDimensionsAndAGraphText) {
  write("blend.graph",
        "fuseline-graph 1\n%0 = input a : f32[H, W]\n%1 = input b : f32[H, W]\n"
        "%2 = mul %0 %1 : f32[H, W]\n%3 = add %2 %1 : f32[H, W]\noutput out %3\n");
  const std::string text = R"(// fuseline: threads=32x8
extern "C" __global__ void blend_kernel(const float* a, const float* b, float* out, int H, int W) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < W && y < H) out[y * W + x] = a[y * W + x] * b[y * W + x] + b[y * W + x];
}
)";
  Outcome outcome = check(text, {"blend.graph"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  Outcome swapped = check(replaced(text, "x < W && y < H", "x < H && y < W"), {"blend.graph"});
  EXPECT_EQ(swapped.code, 1);
}

TEST_F(Kernel, OnTheGpu) {
  write("k.cu", right_kernel);
  Outcome outcome = run({"kernel", "check", "k.cu", "mask", "--device", "cuda"});
  if (outcome.code == 3) GTEST_SKIP() << outcome.err;
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, Not(HasSubstr("simulator")));
  write("tail.cu", replaced(right_kernel, "i < first + 4 && i < n", "i < first + 4"));
  Outcome tail = run({"kernel", "check", "tail.cu", "mask", "--device", "cuda"});
  EXPECT_EQ(tail.code, 1);
  EXPECT_THAT(tail.out, HasSubstr("mask: "));
  EXPECT_THAT(tail.out, HasSubstr("guard bytes overwritten"));
}

TEST_F(Kernel, BadUsage) {
  struct BadCase {
    std::vector<std::string> words;
    std::string part;
  };
  write("k.cu", replaced(right_kernel, "items=4", "item=4"));
  write("bad.graph", "nothing\n");
  const BadCase cases[] = {
      {{"kernel"}, "kernel: say what to do"},
      {{"kernel", "chek"}, "did you mean check?"},
      {{"kernel", "spec"}, "name the pipeline"},
      {{"kernel", "spec", "masc"}, "masc is neither a pipeline"},
      {{"kernel", "spec", "bad.graph"}, "bad.graph: "},
      {{"kernel", "spec", "bad.graph", "--threshold", "3"}, "--threshold belongs to mask"},
      {{"kernel", "spec", "mask", "--treshold", "3"}, "did you mean --threshold?"},
      {{"kernel", "spec", "mask", "--threshold", "300"}, "--threshold"},
      {{"kernel", "check", "none.cu", "mask"}, "none.cu cannot be read"},
      {{"kernel", "check", "k.cu", "mask"}, "k.cu:2: \"item=4\" is no wish"},
      {{"kernel", "check", "k.cu", "mask", "--arch", "sm_10"}, "--arch"},
      {{"kernel", "check", "k.cu", "mask", "--device", "gpu"}, "--device"},
  };
  for (const BadCase& bad : cases) {
    SCOPED_TRACE(testing::PrintToString(bad.words));
    Outcome outcome = run(bad.words);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    expect_one_line(outcome.err, bad.part);
  }
  for (const std::vector<std::string>& words : {std::vector<std::string>{"kernel", "--help"},
                                                {"kernel", "spec", "--help"},
                                                {"kernel", "check", "--help"}})
    EXPECT_THAT(run(words).out, HasSubstr("Examples:"));
}

}  // namespace
}  // namespace fuseline::test
