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
const char* const heavy_calls[] = {"cuMemAlloc", "cuMemFree", "cuModuleLoadData",
                                   "cuModuleGetFunction", "cuStreamCreate"};

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

TEST_F(Recording, AnotherFrameIsPatchedIn) {
  Lane lane = compile_on(device(), mask_graph(), {}).make_lane();
  MaskRun a(9, 33, 4), b(9, 33, 5);
  for (int again = 0; again < 3; ++again) a.run(lane);
  since();
  for (int again = 0; again < 4; ++again) {
    MaskRun& now = again % 2 ? a : b;
    now.change();
    now.run(lane);
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
  std::vector<std::uint8_t> mask(9 * 33);
  for (int again = 0; again < 8; ++again) {
    std::int64_t area = -1;
    lane.run({{"frame", again % 4 < 2 ? frame.tensor() : on_device}},
             {{"mask", Tensor::of(mask.data(), {9, 33})}, {"area", Tensor::of(&area, {})}});
    EXPECT_EQ(area, frame.area(127));
    EXPECT_TRUE(mask == frame.mask(127));
  }
}

// The caller's tensors are made before; what is counted is the run.
TEST_F(Recording, FromTheThirdRunOnNothingIsAllocatedOnTheHost) {
  Lane lane = compile_on(device(), mask_graph(), {}).make_lane();
  MaskRun a(9, 33, 6), b(9, 33, 7);
  for (MaskRun* run : {&a, &b, &a, &b}) run->run(lane);
  since();
  std::int64_t before = host_allocations();
  for (int again = 0; again < 3; ++again) lane.run(a.inputs(), a.outputs());
  std::int64_t same_address = host_allocations() - before;
  before = host_allocations();
  for (int again = 0; again < 2; ++again) {
    lane.run(b.inputs(), b.outputs());
    lane.run(a.inputs(), a.outputs());
  }
  std::int64_t other_address = host_allocations() - before;
  Counts counts = since();
  EXPECT_EQ(same_address, 0);
  EXPECT_EQ(other_address, 0);
  EXPECT_EQ(counts.heavy, 0);
  EXPECT_EQ(counts.replay, 7);
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
      MaskRun a(9, 33, 9), b(9, 33, 10);
      for (int again = 0; again < 3; ++again) a.run(lane);
      standin().fail_at(call, nth, 999, false);
      try {
        b.run(lane);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::device);
      }
      for (MaskRun* run : {&b, &a, &b, &b}) run->run(lane);  // results are checked
    }
}

TEST_F(Recording, ManySizesKeepFewRecordingsAndFreeTheOthers) {
  std::int64_t before = standin().done("cuGraphInstantiate") - standin().done("cuGraphExecDestroy");
  auto alive = [&] {
    return standin().done("cuGraphInstantiate") - standin().done("cuGraphExecDestroy") - before;
  };
  {
    Program program = compile_on(device(false), mask_graph(), {});
    Lane lane = program.make_lane();
    MaskRun largest(100, 40, 1);  // first, so that nothing grows
    largest.run(lane, false);
    std::int64_t most = 0;
    std::vector<std::unique_ptr<MaskRun>> runs;
    for (int size = 1; size < 100; ++size)
      runs.push_back(std::make_unique<MaskRun>(size, 40, size));
    for (int round = 0; round < 2; ++round)
      for (auto& run : runs)
        for (int again = 0; again < 3; ++again) {
          run->run(lane, false);
          most = std::max(most, alive());
        }
    EXPECT_GT(most, 1);
    EXPECT_LE(most, 16);
    EXPECT_LE(program.stats().instances, 64);
  }
  EXPECT_EQ(alive(), 0);
}

TEST_F(Recording, AGrowingLaneForgetsWhatHoldsOldAddresses) {
  Lane lane = compile_on(device(), mask_graph(), {}).make_lane();
  std::vector<std::unique_ptr<MaskRun>> runs;
  for (int size : {3, 12, 40}) runs.push_back(std::make_unique<MaskRun>(size, 50, size));
  for (int round = 0; round < 2; ++round)
    for (auto& run : runs)
      for (int again = 0; again < 3; ++again) {
        run->change();
        run->run(lane);
      }
}

}  // namespace
}  // namespace fuseline::test
