// Programs: results, sizes without compilation, errors, threads, observers.
#include "fuseline/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

#include "fuseline/error.hpp"
#include "fuseline/ops.hpp"
#include "graph/evaluate.hpp"
#include "support/mask_graph.hpp"

namespace fuseline {
namespace {

using ::testing::HasSubstr;

struct Frame {
  std::vector<std::uint8_t> pixels;
  Tensor tensor;
};

Frame make_frame(std::int64_t height, std::int64_t width, unsigned seed = 1) {
  Frame frame{std::vector<std::uint8_t>(static_cast<std::size_t>(height * width * 3)), {}};
  for (auto& byte : frame.pixels)
    byte = static_cast<std::uint8_t>((seed = seed * 1664525u + 1013904223u) >> 24);
  frame.tensor = Tensor::of(frame.pixels.data(), {height, width, 3});
  return frame;
}

// A range test on hue, saturation and value, its area, and the mean brightness.
Graph hsv_graph() {
  Graph g;
  Value frame = g.input("frame", DType::u8, {Dim::symbol("H"), Dim::symbol("W"), 3});
  Value hsv = rgb_to_hsv(frame);
  Value inside = in_range(hsv, {20, 40, 30}, {140, 250, 240});
  g.output("inside", inside);
  g.output("area", count(inside));
  g.output("brightness", mean(pick(hsv, -1, 2)));
  return g;
}

void expect_as_evaluated(const Graph& graph, const Program& program, const TensorMap& inputs) {
  auto expected = evaluate_bounded(graph, inputs);
  auto actual = program.run(inputs);
  for (std::size_t i = 0; i < actual.size(); ++i) {
    Comparison comparison = compare_with_oracle(actual[i], expected[graph.outputs()[i].value]);
    EXPECT_FALSE(comparison.first) << graph.outputs()[i].name << ": " << comparison.first->actual
                                   << " instead of " << comparison.first->expected;
  }
}

class ProgramTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("FUSELINE_CACHE", "off", 1); }
};

TEST_F(ProgramTest, MaskAndAreaAreOneKernelAndRight) {
  Graph graph = mask_graph();
  Program program = compile(graph, {.device = "cpu"});
  EXPECT_EQ(program.report().size(), 1u);
  for (auto [h, w] : {std::pair{1, 1}, {3, 5}, {37, 61}, {480, 641}}) {
    Frame frame = make_frame(h, w);
    expect_as_evaluated(graph, program, {{"frame", frame.tensor}});
  }
}

TEST_F(ProgramTest, ANewSizeCompilesNothing) {
  Program program = compile(mask_graph(), {.device = "cpu"});
  for (int size = 1; size < 40; ++size) {
    Frame frame = make_frame(size, 2 * size + 1);
    program.run({{"frame", frame.tensor}});
  }
  EXPECT_EQ(program.stats().kernels, 1);
  EXPECT_EQ(program.stats().instances, 39);
}

TEST_F(ProgramTest, AnotherThresholdIsTheSameKernel) {
  auto source = [](int limit) {
    return compile(mask_graph(limit), {.device = "cpu"}).report()[0].loop_ir;
  };
  EXPECT_EQ(source(100), source(150));
}

TEST_F(ProgramTest, HsvRangeCountAndMeanAreOneKernel) {
  Graph graph = hsv_graph();
  Program program = compile(graph, {.device = "cpu"});
  EXPECT_EQ(program.report().size(), 1u);
  Frame frame = make_frame(67, 129);
  expect_as_evaluated(graph, program, {{"frame", frame.tensor}});
}

TEST_F(ProgramTest, WithoutFusionEachOperationIsAKernel) {
  Graph graph = hsv_graph();
  Program fused = compile(graph, {.device = "cpu"});
  Program unfused = compile(graph, {.device = "cpu", .fusion = false});
  EXPECT_GT(unfused.report().size(), 10u);
  Frame frame = make_frame(33, 47);
  auto a = fused.run({{"frame", frame.tensor}}), b = unfused.run({{"frame", frame.tensor}});
  EXPECT_EQ(*a[1].as<std::int64_t>(), *b[1].as<std::int64_t>());
  EXPECT_EQ(*a[2].as<double>(), *b[2].as<double>());
  EXPECT_EQ(std::memcmp(a[0].data(), b[0].data(), static_cast<std::size_t>(a[0].bytes())), 0);
}

TEST_F(ProgramTest, PitchedAndMisalignedFramesAreReadInPlace) {
  Graph graph = mask_graph();
  Program program = compile(graph, {.device = "cpu"});
  Frame wide = make_frame(40, 100);
  for (std::int64_t start : {0, 3, 31}) {
    Tensor part = wide.tensor.view(start, {38, 50, 3}, {300, 3, 1});
    expect_as_evaluated(graph, program, {{"frame", part}});
  }
  EXPECT_EQ(program.stats().kernels, 1);
}

TEST_F(ProgramTest, StrangeLayoutsFallBackToOneGeneralKernel) {
  Graph g;
  Value x = g.input("x", DType::f32, {Dim::symbol("A"), Dim::symbol("B"), Dim::symbol("C")});
  g.output("y", x * 2.0 + 1.0);
  Program program = compile(g, {.device = "cpu"});
  std::vector<float> memory(100000);
  std::iota(memory.begin(), memory.end(), 0.0f);
  Tensor whole = Tensor::of(memory.data(), {100000});
  for (const Shape& strides :
       {Shape{12, 4, 1}, {50, 4, 1}, {50, 7, 1}, {100, 9, 2}, {1, 100, 1000}, {-12, 4, 1}}) {
    Tensor view = whole.view(5000, {5, 3, 4}, strides);
    expect_as_evaluated(g, program, {{"x", view}});
  }
  EXPECT_LE(program.stats().kernels, 5);
}

TEST_F(ProgramTest, ZeroSizesRunAndReduceToTheIdentity) {
  Graph graph = mask_graph();
  Program program = compile(graph, {.device = "cpu"});
  Tensor empty = Tensor::allocate(DType::u8, {0, 7, 3});
  auto outputs = program.run({{"frame", empty}});
  EXPECT_EQ(outputs[0].shape(), (Shape{0, 7}));
  EXPECT_EQ(*outputs[1].as<std::int64_t>(), 0);
}

TEST_F(ProgramTest, ErrorsNameWhatIsWrong) {
  Program program = compile(mask_graph(), {.device = "cpu"});
  Frame frame = make_frame(4, 5);
  auto message = [&](const TensorMap& inputs, const TensorMap& outputs) -> std::string {
    try {
      program.run(inputs, outputs);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  Tensor mask = Tensor::allocate(DType::u8, {4, 5}), area = Tensor::allocate(DType::i64, {});
  TensorMap good = {{"mask", mask}, {"area", area}};
  EXPECT_EQ(message({{"frame", frame.tensor}}, good), "no error");
  EXPECT_THAT(message({{"frme", frame.tensor}}, good), HasSubstr("did you mean \"frame\""));
  EXPECT_THAT(message({{"frame", area}}, good), HasSubstr("input frame"));
  EXPECT_THAT(message({{"frame", frame.tensor}}, {{"mask", mask}}), HasSubstr("output"));
  EXPECT_THAT(message({{"frame", frame.tensor}},
                      {{"mask", Tensor::allocate(DType::u8, {5, 4})}, {"area", area}}),
              HasSubstr("shape [5, 4] received, [4, 5] expected"));
  Tensor inside = frame.tensor.view(3, {4, 5}, {5, 1});
  EXPECT_THAT(message({{"frame", frame.tensor}}, {{"mask", inside}, {"area", area}}),
              HasSubstr("overlaps input frame"));
  EXPECT_THROW(compile(mask_graph(), {.device = "tpu"}), Error);
  EXPECT_THROW(compile(mask_graph(), {.device = "cpu", .disabled_passes = {"no-such-pass"}}),
               Error);
}

TEST_F(ProgramTest, ManyThreadsShareOneProgram) {
  Program program = compile(mask_graph(), {.device = "cpu"});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 20; ++i) {
        Frame frame = make_frame(20 + t, 30 + i, t * 100 + i);
        std::int64_t area = 0;
        for (std::size_t p = 0; p < frame.pixels.size(); p += 3) {
          int sum =
              9798 * frame.pixels[p] + 19235 * frame.pixels[p + 1] + 3735 * frame.pixels[p + 2];
          area += (sum + 16384) >> 15 > 127;
        }
        wrong += *program.run({{"frame", frame.tensor}})[1].as<std::int64_t>() != area;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ProgramTest, ObserverSeesEveryKernelInOrder) {
  struct Names : Observer {
    std::vector<std::string> seen;
    void on_kernel(std::string_view kernel, Clock::time_point begin,
                   Clock::time_point end) override {
      EXPECT_LE(begin, end);
      seen.emplace_back(kernel);
    }
  } names;
  Program program = compile(hsv_graph(), {.device = "cpu", .fusion = false});
  std::vector<std::string> expected;
  for (const KernelReport& kernel : program.report()) expected.push_back(kernel.name);
  Lane lane = program.make_lane();
  lane.set_observer(&names);
  Frame frame = make_frame(8, 8);
  auto outputs = program.run({{"frame", frame.tensor}});
  lane.run({{"frame", frame.tensor}},
           {{"inside", outputs[0]}, {"area", outputs[1]}, {"brightness", outputs[2]}});
  EXPECT_EQ(names.seen, expected);
}

TEST_F(ProgramTest, OneValueMayBeSeveralOutputs) {
  Graph g;
  Value x = g.input("x", DType::f32, {Dim::symbol("N")});
  Value y = x + 1.0;
  g.output("a", y);
  g.output("b", y);
  g.output("same", x);
  std::vector<float> data = {1, 2, 3};
  auto outputs = compile(g, {.device = "cpu"}).run({{"x", Tensor::of(data.data(), {3})}});
  EXPECT_EQ(outputs[0].as<float>()[2], 4);
  EXPECT_EQ(outputs[1].as<float>()[2], 4);
  EXPECT_EQ(outputs[2].as<float>()[2], 3);
}

TEST_F(ProgramTest, ConstantTensorsAreReadFromTheDevice) {
  Graph g;
  Value x = g.input("x", DType::f32, {Dim::symbol("N"), 3});
  std::vector<float> scale = {1, 10, 100};
  g.output("y", x * g.constant(Tensor::of(scale.data(), {3})));
  std::vector<float> data = {1, 2, 3, 4, 5, 6};
  auto y = compile(g, {.device = "cpu"}).run({{"x", Tensor::of(data.data(), {2, 3})}})[0];
  EXPECT_EQ(y.as<float>()[4], 50);
  EXPECT_EQ(y.as<float>()[5], 600);
}

TEST_F(ProgramTest, ExplainNamesTheReasons) {
  auto report = compile(mask_graph(), {.device = "cpu"}).report();
  EXPECT_THAT(report[0].plan, HasSubstr("32-bit index"));
  EXPECT_THAT(report[0].reasons, ::testing::Contains(HasSubstr("a graph output")));
  EXPECT_THAT(report[0].source, HasSubstr("define"));
  EXPECT_THAT(report[0].cuda_source, HasSubstr("__global__"));
}

}  // namespace
}  // namespace fuseline
