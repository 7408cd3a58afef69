// Planned kernels as CUDA C: NVRTC accepts them for every architecture, without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "device/cuda/nvrtc.hpp"
#include "emit/cuda_c/print.hpp"
#include "fuseline/ops.hpp"
#include "fuseline/program.hpp"

namespace fuseline {
namespace {

Dims image(std::int64_t channels) { return {Dim::symbol("H"), Dim::symbol("W"), channels}; }

std::vector<std::pair<std::string, Graph>> pipelines() {
  std::vector<std::pair<std::string, Graph>> all;
  auto add = [&](std::string name, auto&& write) {
    all.emplace_back(std::move(name), Graph());
    write(all.back().second);
  };
  add("mask and area", [](Graph& g) {
    Value mask = threshold(gray(g.input("frame", DType::u8, image(3))), 127, 255);
    g.output("mask", mask);
    g.output("area", count(mask));
  });
  add("hue range, area and mean", [](Graph& g) {
    Value hsv = rgb_to_hsv(g.input("frame", DType::u8, image(3)));
    Value inside = in_range(hsv, {20, 40, 30}, {140, 250, 240});
    g.output("inside", inside);
    g.output("area", count(inside));
    g.output("brightness", mean(pick(hsv, -1, 2)));
  });
  add("normalized planes", [](Graph& g) {
    Value x = cast(g.input("frame", DType::u8, image(3)), DType::f32) / 255.0;
    g.output("planes", cast(transpose((x - 0.45) / 0.22, {2, 0, 1}), DType::f16));
  });
  add("chain", [](Graph& g) {
    Value x = g.input("x", DType::f32, {Dim::symbol("N")});
    g.output("y", log(1.0 + exp(tanh((x - 0.5) / 2.0)) * 3.0));
  });
  add("row and column reductions", [](Graph& g) {
    Value x = g.input("x", DType::bf16, {Dim::symbol("R"), Dim::symbol("C")});
    g.output("row_max", reduce_max(x, {1}));
    g.output("column_sum", reduce_sum(x, {0}));
    g.output("best", arg_max(x, 1));
  });
  add("resized", [](Graph& g) {
    Value x = g.input("x", DType::u8, image(3));
    g.output("small", resize(x, ceil_div(Dim::symbol("H"), 2), ceil_div(Dim::symbol("W"), 2)));
  });
  return all;
}

TEST(Nvrtc, CompilesEveryPipelineForEveryArchitecture) {
  if (auto why = cuda::nvrtc_missing(); !why.empty()) GTEST_SKIP() << why;
  setenv("FUSELINE_CACHE", "off", 1);
  auto known = cuda::nvrtc_architectures();
  std::vector<double> times;
  for (const auto& [name, graph] : pipelines())
    for (const KernelReport& kernel : compile(graph, {.device = "cpu"}).report())
      for (int sm : {75, 80, 86, 89, 90, 100, 120}) {
        if (std::find(known.begin(), known.end(), sm) == known.end()) continue;
        SCOPED_TRACE(name + ", " + kernel.name + ", sm_" + std::to_string(sm));
        auto result = cuda::compile_cuda(kernel.cuda_source, kernel.name,
                                         "sm_" + std::to_string(sm), nvrtc_options);
        EXPECT_FALSE(result.code.empty());
        EXPECT_EQ(result.log, "");
        times.push_back(result.ms);
      }
  std::sort(times.begin(), times.end());
  RecordProperty("median_ms", std::to_string(times[times.size() / 2]));
  std::printf("%zu compilations, median %.1f ms, longest %.1f ms\n", times.size(),
              times[times.size() / 2], times.back());
}

}  // namespace
}  // namespace fuseline
