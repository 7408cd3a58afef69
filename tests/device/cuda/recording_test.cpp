// When runs are recorded, seen from the driver: cold, warm, recorded, disabled; and what a warm
// run may not do any more.
#include <map>

#include "device/cuda/walk.hpp"
#include "fuseline/ops.hpp"

namespace fuseline::test {
namespace {

// Calls by name since the last look.
class Seen {
 public:
  std::int64_t operator[](const char* name) {
    std::int64_t& before = before_[name];
    std::int64_t now = standin().calls(name);
    return now - std::exchange(before, now);
  }

 private:
  std::map<std::string, std::int64_t> before_;
};

const char* const graph_calls[] = {"cuGraphCreate", "cuGraphAddKernelNode", "cuGraphAddMemcpyNode",
                                   "cuGraphInstantiate"};
const char* const patch_calls[] = {"cuGraphExecKernelNodeSetParams",
                                   "cuGraphExecMemcpyNodeSetParams"};
const char* const eager_calls[] = {"cuLaunchKernel", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync",
                                   "cuMemcpyDtoDAsync", "cuMemsetD8Async"};
const char* const heavy_calls[] = {"cuMemAlloc",    "cuMemFree",        "cuMemCreate",
                                   "cuMemMap",      "cuModuleLoadData", "cuModuleGetFunction",
                                   "cuStreamCreate"};

struct Counts {
  std::int64_t graph = 0, patch = 0, eager = 0, heavy = 0, replay = 0;
};

class Recording : public CudaTest {
 protected:
  Counts since() {
    auto sum = [&](const auto& names) {
      std::int64_t all = 0;
      for (const char* name : names) all += seen_[name];
      return all;
    };
    return {sum(graph_calls), sum(patch_calls), sum(eager_calls), sum(heavy_calls),
            seen_["cuGraphLaunch"]};
  }

 private:
  Seen seen_;
};

TEST_F(Recording, ASizeIsColdThenRecordedThenReplayed) {
  Lane lane = compile_on(device(), mask_graph(), {}).make_lane();
  MaskRun run(9, 33, 1);
  since();
  run.run(lane);
  Counts cold = since();
  EXPECT_EQ(cold.graph + cold.replay, 0);
  EXPECT_EQ(cold.eager, 4);  // frame up, kernel, mask and area down
  run.change();
  run.run(lane);
  Counts second = since();
  EXPECT_EQ(second.graph, 6);  // the same as nodes, between creation and instantiation
  EXPECT_EQ(second.replay, 1);
  EXPECT_EQ(second.eager, 0);
  for (int again = 0; again < 3; ++again) {
    run.change();
    run.run(lane);
    Counts later = since();
    EXPECT_EQ(later.replay, 1);
    EXPECT_EQ(later.graph + later.patch + later.eager + later.heavy, 0);
  }
}

TEST_F(Recording, HostTensorsOfAProgramArePinned) {
  Program program = compile_on(device(), mask_graph(), {});
  Lane lane = program.make_lane();
  auto pinned = [] { return standin().calls("cuMemHostAlloc") - standin().calls("cuMemFreeHost"); };
  auto before = pinned();
  {
    Tensor frame = program.allocate(DType::u8, {4, 5, 3}),
           mask = program.allocate(DType::u8, {4, 5}), area = program.allocate(DType::i64, {});
    EXPECT_EQ(pinned(), before + 3);
    std::memset(frame.data(), 200, 60);
    for (int run = 0; run < 3; ++run) {
      *area.as<std::int64_t>() = -1;
      lane.run({{"frame", frame}}, {{"mask", mask}, {"area", area}});
      EXPECT_EQ(*area.as<std::int64_t>(), 20);
    }
  }
  EXPECT_EQ(pinned(), before);
}

TEST_F(Recording, OnRecordsTheFirstRun) {
  Lane lane = compile_on(device(), mask_graph(), {.record = Record::on}).make_lane();
  MaskRun run(9, 33, 2);
  since();
  run.run(lane);
  Counts first = since();
  EXPECT_EQ(first.replay, 1);
  EXPECT_EQ(first.eager, 0);
}

TEST_F(Recording, OffNeverRecords) {
  Lane lane = compile_on(device(), mask_graph(), {.record = Record::off}).make_lane();
  MaskRun run(9, 33, 3);
  since();
  for (int again = 0; again < 5; ++again) run.run(lane);
  Counts all = since();
  EXPECT_EQ(all.graph + all.replay, 0);
  EXPECT_EQ(all.eager, 20);
}

TEST_F(Recording, FramesThatTakeTurnsHaveTheirOwn) {
  Lane lane = compile_on(device(), mask_graph(), {}).make_lane();
  MaskRun a(9, 33, 4), b(9, 33, 5);
  for (MaskRun* run : {&a, &a, &b, &b}) run->run(lane);
  since();
  for (int again = 0; again < 6; ++again) {
    MaskRun& now = again % 2 ? a : b;
    now.change();
    now.run(lane);
    Counts counts = since();
    EXPECT_EQ(counts.replay, 1);
    EXPECT_EQ(counts.graph + counts.patch + counts.eager + counts.heavy, 0);
  }
}

// More frames than recordings: steps get other addresses, and nothing is instantiated.
TEST_F(Recording, ManyFramesArePatchedIn) {
  Lane lane = compile_on(device(), mask_graph(), {}).make_lane();
  std::vector<std::unique_ptr<MaskRun>> runs;
  for (unsigned seed = 0; seed < 8; ++seed) runs.push_back(std::make_unique<MaskRun>(9, 33, seed));
  for (auto& run : runs) run->run(lane);
  since();
  for (int round = 0; round < 2; ++round)
    for (auto& run : runs) {
      run->change();
      run->run(lane);
      Counts counts = since();
      EXPECT_EQ(counts.replay, 1);
      EXPECT_GT(counts.patch, 0);
      EXPECT_EQ(counts.graph + counts.eager + counts.heavy, 0);
    }
}

// The same shape, but with and without a copy to the device.
TEST_F(Recording, FramesOnTheHostAndOnTheDeviceTakeTurns) {
  Lane lane = compile_on(device(), mask_graph(), {}).make_lane();
  RandomFrame frame(9, 33, 20);
  std::shared_ptr<void> memory = device().allocate(frame.pixels.size());
  auto queue = device().make_queue();
  queue->upload(memory.get(), frame.pixels.data(), frame.pixels.size());
  queue->wait();
  Tensor on_device(memory.get(), DType::u8, {9, 33, 3}, device().id());
  std::vector<std::vector<std::uint8_t>> masks(7, std::vector<std::uint8_t>(9 * 33));
  for (std::size_t again = 0; again < 28; ++again) {
    std::vector<std::uint8_t>& mask = masks[again % masks.size()];  // more than recordings
    std::int64_t area = -1;
    lane.run({{"frame", again % 3 == 0 ? frame.tensor() : on_device}},
             {{"mask", Tensor::of(mask.data(), {9, 33})}, {"area", Tensor::of(&area, {})}});
    EXPECT_EQ(area, frame.area(127));
    EXPECT_TRUE(mask == frame.mask(127));
  }
}

// The caller's tensors are made before; what is counted is the run.
TEST_F(Recording, NothingIsAllocatedOnTheHostWhereSizesHaveRun) {
  Lane lane = compile_on(device(), mask_graph(), {}).make_lane();
  std::vector<std::unique_ptr<MaskRun>> runs;
  for (unsigned seed = 0; seed < 8; ++seed) runs.push_back(std::make_unique<MaskRun>(9, 33, seed));
  auto allocations_of = [&](std::size_t frames) {
    for (int round = 0; round < 2; ++round)
      for (std::size_t i = 0; i < frames; ++i) runs[i]->run(lane);
    since();
    std::int64_t before = host_allocations();
    for (std::size_t i = 0; i < frames; ++i) lane.run(runs[i]->inputs(), runs[i]->outputs());
    std::int64_t allocations = host_allocations() - before;
    Counts counts = since();
    EXPECT_EQ(counts.heavy + counts.graph, 0);
    EXPECT_EQ(counts.replay, static_cast<std::int64_t>(frames));
    return allocations;
  };
  EXPECT_EQ(allocations_of(1), 0) << "the same tensors";
  EXPECT_EQ(allocations_of(3), 0) << "tensors that take turns";
  EXPECT_EQ(allocations_of(8), 0) << "tensors that are patched in";
}

TEST_F(Recording, OneThatFailsIsGivenUp) {
  for (const char* call : graph_calls) {
    SCOPED_TRACE(call);
    Lane lane = compile_on(device(), mask_graph(), {}).make_lane();
    MaskRun run(9, 33, 8);
    run.run(lane);
    standin().fail_at(call, 1, 801, false);
    since();
    run.run(lane);
    EXPECT_EQ(standin().failed(), 1);
    EXPECT_EQ(since().eager, 4);
    for (int again = 0; again < 3; ++again) {
      run.change();
      run.run(lane);
    }
    Counts later = since();
    EXPECT_EQ(later.graph + later.replay, 0);
    EXPECT_EQ(later.eager, 12);
  }
}

TEST_F(Recording, APatchThatFailsIsNotHalfThere) {
  for (const char* call : patch_calls)
    for (std::int64_t nth : {1, 2}) {
      SCOPED_TRACE(call);
      Lane lane = compile_on(device(), mask_graph(), {}).make_lane();
      std::vector<std::unique_ptr<MaskRun>> runs;
      for (unsigned seed = 0; seed < 6; ++seed)
        runs.push_back(std::make_unique<MaskRun>(9, 33, seed));
      for (auto& run : runs) run->run(lane);
      standin().fail_at(call, nth, 999, false);
      for (int round = 0; round < 2; ++round)
        for (auto& run : runs) try {
            run->run(lane);  // results are checked
          } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::device);
          }
    }
}

TEST_F(Recording, ManySizesKeepFewRecordingsAndFreeTheOthers) {
  std::int64_t before = standin().done("cuGraphInstantiate") - standin().done("cuGraphExecDestroy");
  auto alive = [&] {
    return standin().done("cuGraphInstantiate") - standin().done("cuGraphExecDestroy") - before;
  };
  {
    Program program = compile_on(device(), mask_graph(), {});
    Lane lane = program.make_lane();
    MaskRun largest(100, 40, 1);  // first, so that nothing grows
    largest.run(lane);
    std::int64_t most = 0;
    std::vector<std::unique_ptr<MaskRun>> runs;
    for (int size = 1; size < 100; ++size)
      runs.push_back(std::make_unique<MaskRun>(size, 40, size));
    for (int round = 0; round < 2; ++round)
      for (auto& run : runs)
        for (int again = 0; again < 3; ++again) {
          run->run(lane);
          most = std::max(most, alive());
        }
    EXPECT_GT(most, 1);
    EXPECT_LE(most, 16 * 4);
    EXPECT_LE(program.stats().instances, 64);
  }
  EXPECT_EQ(alive(), 0);
}

TEST_F(Recording, SizesThatGrowStayRight) {
  for (Memory memory : {Memory::stays, Memory::moves}) {
    Lane lane = compile_on(device(Kernels::run, memory), mask_graph(), {}).make_lane();
    std::vector<std::unique_ptr<MaskRun>> runs;
    for (unsigned size : {3, 12, 40, 90}) runs.push_back(std::make_unique<MaskRun>(size, 50, size));
    for (int round = 0; round < 2; ++round)
      for (auto& run : runs)
        for (int again = 0; again < 3; ++again) {
          run->change();
          run->run(lane);
        }
  }
}

TEST_F(Recording, MemoryThatStaysKeepsTheRecordings) {
  Lane lane = compile_on(device(), mask_graph(), {}).make_lane();
  MaskRun small(3, 50, 1), large(200, 50, 2);
  for (int again = 0; again < 3; ++again) small.run(lane);
  large.run(lane);
  since();
  small.run(lane);
  Counts counts = since();
  EXPECT_EQ(counts.graph + counts.patch + counts.eager + counts.heavy, 0);
  EXPECT_EQ(counts.replay, 1);
}

// ---- streams of the caller

TEST_F(Recording, ACallersStreamGetsTheWorkAndIsNotWaitedFor) {
  CallerStream stream;
  Lane lane = compile_on(device(), mask_graph(), {}).make_lane();
  MaskRun run(9, 33, 11);
  for (int again = 0; again < 5; ++again) {
    run.change();
    std::int64_t waits = standin().calls("cuStreamSynchronize");
    lane.enqueue(run.inputs(), run.outputs(), stream.get());
    if (again > 0) {
      EXPECT_EQ(standin().calls("cuStreamSynchronize"), waits);
    }
    stream.wait();
    run.expect_results();
  }
}

TEST_F(Recording, ACapturedStreamGetsLaunchesOnly) {
  if (!standin().simulated()) GTEST_SKIP() << "the capture is simulated";
  CallerStream stream;
  Program program = compile_on(device(), mask_graph(), {});
  Lane lane = program.make_lane();
  MaskRun run(9, 33, 12), unknown(9, 34, 13);
  for (int again = 0; again < 3; ++again) run.run(lane);
  since();
  standin().begin_capture(stream.get());
  lane.enqueue(run.inputs(), run.outputs(), stream.get());
  Counts counts = since();
  EXPECT_EQ(counts.eager, 4);
  EXPECT_EQ(counts.graph + counts.patch + counts.replay + counts.heavy, 0);
  EXPECT_THROW(lane.enqueue(unknown.inputs(), unknown.outputs(), stream.get()), Error);
  EXPECT_EQ(standin().end_capture(stream.get()), 4);
  EXPECT_EQ(since().heavy, 0);
  run.run(lane);
}

}  // namespace
}  // namespace fuseline::test
