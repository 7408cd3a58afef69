// Programs on a CUDA device: against evaluate, recorded against eager, many threads.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "base/fail.hpp"
#include "fuseline/ops.hpp"
#include "fuzz/agreement.hpp"
#include "fuzz/random_graph.hpp"
#include "graph/evaluate.hpp"
#include "program/device_registry.hpp"
#include "program/program_impl.hpp"
#include "support/mask_graph.hpp"

namespace fuseline {
namespace {

struct Frame {
  std::vector<std::uint8_t> pixels;
  std::int64_t height, width;
  explicit Frame(std::int64_t h, std::int64_t w, unsigned seed)
      : pixels(static_cast<std::size_t>(h * w * 3)), height(h), width(w) {
    for (auto& byte : pixels)
      byte = static_cast<std::uint8_t>((seed = seed * 1664525u + 1013904223u) >> 24);
  }
  Tensor tensor() { return Tensor::of(pixels.data(), {height, width, 3}); }
  std::int64_t area(int limit) const {
    std::int64_t sum = 0;
    for (std::size_t p = 0; p < pixels.size(); p += 3)
      sum +=
          (9798 * pixels[p] + 19235 * pixels[p + 1] + 3735 * pixels[p + 2] + 16384) >> 15 > limit;
    return sum;
  }
};

class Gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const DeviceStatus& status : device_status())
      if (status.name == "cuda" && !status.available) GTEST_SKIP() << status.detail;
  }
};

TEST_F(Gpu, RandomGraphsAgreeWithTheReference) {
  const char* text = std::getenv("FUSELINE_FUZZ_CASES");
  std::uint64_t cases = text ? std::strtoull(text, nullptr, 10) : 100;
  Device& device = open_device("cuda");
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= cases && failures < 3; ++seed) {
    fuzz::Case c = fuzz::random_case(seed, fuzz::all_operations);
    std::optional<std::string> fault;
    try {
      fault = fuzz::check(c, seed, [&](const Graph& g) {
        return compile_on(device, g,
                          {.fusion = seed % 4 != 0, .parity = true, .record = Record::on},
                          fuzz::shapes_by(seed));
      });
    } catch (const std::exception& error) {
      fault = error.what();
    }
    if (!fault) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << *fault << "\n" << c.graph->to_text();
  }
}

TEST_F(Gpu, MaskIsRightAtEverySizeAndOffset) {
  Program program = compile(mask_graph(), {.device = "cuda"});
  for (auto [h, w] : {std::pair{1, 1}, {3, 5}, {37, 61}, {480, 641}, {1080, 1920}, {16, 16}})
    for (int run = 0; run < 3; ++run) {
      Frame frame(h, w, static_cast<unsigned>(h * w + run));
      auto outputs = program.run({{"frame", frame.tensor()}});
      ASSERT_EQ(*outputs[1].as<std::int64_t>(), frame.area(127)) << h << "x" << w << " run " << run;
      std::int64_t set = 0;
      for (std::int64_t i = 0; i < outputs[0].size(); ++i)
        set += outputs[0].as<std::uint8_t>()[i] == 255;
      ASSERT_EQ(set, frame.area(127));
    }
  Frame wide(64, 128, 9);
  for (std::int64_t offset = 0; offset < 16; ++offset) {
    Tensor part = wide.tensor().view(offset, {60, 100, 3}, {384, 3, 1});
    TensorMap inputs = {{"frame", part}};
    auto expected = evaluate(mask_graph(), inputs);
    auto actual = program.run(inputs);
    EXPECT_EQ(std::memcmp(actual[0].data(), expected[0].data(), 6000), 0) << "offset " << offset;
  }
}

TEST_F(Gpu, ReplaysAreBitEqualToEagerRuns) {
  Program recorded = compile(mask_graph(), {.device = "cuda"});
  Program eager = compile(mask_graph(), {.device = "cuda", .record = Record::off});
  Lane a = recorded.make_lane(), b = eager.make_lane();
  std::vector<std::uint8_t> mask_a(77 * 131), mask_b(77 * 131);
  std::int64_t area_a = 0, area_b = 0;
  auto outputs = [](auto& mask, auto& area) {
    return TensorMap{{"mask", Tensor::of(mask.data(), {77, 131})}, {"area", Tensor::of(&area, {})}};
  };
  Frame frame(77, 131, 1), other(77, 131, 2);
  for (int run = 0; run < 20000; ++run) {
    Frame& now = run % 7 == 3 ? other : frame;  // another address now and then
    now.pixels[static_cast<std::size_t>(run) % now.pixels.size()] += 77;
    a.run({{"frame", now.tensor()}}, outputs(mask_a, area_a));
    ASSERT_EQ(area_a, now.area(127)) << "run " << run;
    if (run % 50 != 0) continue;
    b.run({{"frame", now.tensor()}}, outputs(mask_b, area_b));
    ASSERT_EQ(area_a, area_b);
    ASSERT_EQ(mask_a, mask_b) << "run " << run;
  }
}

TEST_F(Gpu, DeviceTensorsAreUsedInPlace) {
  Device& device = open_device("cuda");
  Program program = compile(mask_graph(), {.device = "cuda"});
  Frame frame(480, 640, 5);
  auto queue = device.make_queue();
  for (std::size_t offset : {0, 1, 4, 16}) {
    auto memory = device.allocate(frame.pixels.size() + 64);
    auto* data = static_cast<char*>(memory.get()) + offset;
    queue->upload(data, frame.pixels.data(), frame.pixels.size());
    queue->wait();
    Tensor on_device(static_cast<void*>(data), DType::u8, {480, 640, 3}, device.id());
    std::int64_t area = 0;
    auto mask = device.allocate(480 * 640 + 64);
    Tensor device_mask(static_cast<void*>(static_cast<char*>(mask.get()) + offset), DType::u8,
                       {480, 640}, device.id());
    for (int run = 0; run < 3; ++run) {
      program.run({{"frame", on_device}}, {{"mask", device_mask}, {"area", Tensor::of(&area, {})}});
      EXPECT_EQ(area, frame.area(127)) << "offset " << offset << " run " << run;
    }
  }
}

TEST_F(Gpu, ThreadsAndProgramsDoNotDisturbEachOther) {
  Program first = compile(mask_graph(100), {.device = "cuda"}),
          second = compile(mask_graph(180), {.device = "cuda"});
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      int limit = t % 2 ? 180 : 100;
      Lane lane = (t % 2 ? second : first).make_lane();
      std::vector<std::uint8_t> mask(64 * 100);
      std::int64_t area = 0;
      for (unsigned i = 0; i < 300; ++i) {
        Frame frame(64, 100, t * 1000 + i);
        lane.run({{"frame", frame.tensor()}},
                 {{"mask", Tensor::of(mask.data(), {64, 100})}, {"area", Tensor::of(&area, {})}});
        wrong += area != frame.area(limit);
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace fuseline
