// Programs on a CUDA device: against evaluate, in device memory, many threads.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "fuseline/ops.hpp"
#include "fuzz/agreement.hpp"
#include "fuzz/random_graph.hpp"
#include "gpu/support.hpp"
#include "graph/evaluate.hpp"
#include "program/program_impl.hpp"
#include "support/mask_graph.hpp"
#include "support/random_frame.hpp"

namespace fuseline {
namespace {

using Gpu = test::GpuTest;
using Frame = RandomFrame;

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
