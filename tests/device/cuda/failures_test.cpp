// Every driver call of a Program's life fails once: a device Error, nothing in flight, nothing
// lost, and then right results again or a clear refusal.
#include <gmock/gmock.h>

#include <array>

#include "base/env.hpp"
#include "device/cuda/walk.hpp"
#include "fuseline/ops.hpp"
#include "support/child_process.hpp"

namespace fuseline::test {
namespace {

using ::testing::HasSubstr;

constexpr int unknown_error = 999;

class Failures : public CudaTest {
 protected:
  // Whether the step was done; else it threw what it should have thrown.
  static bool attempt(Walk& walk, std::size_t step) {
    try {
      walk.step(step);
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::device) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("CUDA_ERROR"));
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    if (standin().simulated()) {
      EXPECT_EQ(standin().pending(), 0) << "work is in flight behind a failed run";
    }
    return false;
  }

  // What a walk met whose nth call failed.
  struct Report {
    std::string failed;  // the name of the call
    bool threw = false;
    bool recovered = true;  // each step that threw was done when asked again
  };

  Report walk_with_failure(std::int64_t nth, const CompileOptions& options, Memory memory) {
    SCOPED_TRACE("call " + std::to_string(nth));
    Report report;
    std::string before = open_handles();
    standin().fail_at(nullptr, nth, unknown_error, false);
    {
      Walk walk(device(Kernels::run, memory), options);
      for (std::size_t step = 0; step < std::size(Walk::steps); ++step) {
        SCOPED_TRACE(Walk::steps[step]);
        if (attempt(walk, step)) continue;
        report.threw = true;
        report.recovered = report.recovered && attempt(walk, step);
      }
    }
    report.failed = standin().failed() > 0 ? standin().failed_name() : "";
    // A context that cannot be made current is gone, with all that belongs to it.
    if (report.failed != "cuCtxPushCurrent") {
      EXPECT_EQ(open_handles(), before);
    }
    if (standin().simulated()) {
      EXPECT_STREQ(standin().misuse(), "");
    }
    return report;
  }

  std::int64_t calls_of_a_walk(const CompileOptions& options = {}, Memory memory = Memory::stays) {
    EXPECT_FALSE(walk_with_failure(0, options, memory).threw);  // compiles
    std::int64_t before = standin().calls(nullptr);
    EXPECT_FALSE(walk_with_failure(0, options, memory).threw);
    return standin().calls(nullptr) - before;
  }

  void fail_every_call(const CompileOptions& options, Memory memory = Memory::stays) {
    std::int64_t calls = calls_of_a_walk(options, memory), thrown = 0;
    for (std::int64_t nth = 1; nth <= calls; ++nth) {
      Report report = walk_with_failure(nth, options, memory);
      SCOPED_TRACE(report.failed + ", call " + std::to_string(nth) + " of " +
                   std::to_string(calls));
      EXPECT_NE(report.failed, "");
      EXPECT_TRUE(report.recovered);
      thrown += report.threw;
      if (HasFailure()) return;
    }
    EXPECT_GT(thrown, calls / 4);
  }
};

TEST_F(Failures, OfEveryCallWhereRunsAreRecorded) { fail_every_call({}); }
TEST_F(Failures, OfEveryCallWhereRunsAreNot) { fail_every_call({.record = Record::off}); }
TEST_F(Failures, OfEveryCallWhereMemoryMoves) { fail_every_call({}, Memory::moves); }
TEST_F(Failures, OfEveryCallWhereKernelsAreMany) { fail_every_call({.fusion = false}); }

// All calls fail from one on: nothing can be done, and teardown ends all the same.
TEST_F(Failures, OfAllCallsFromOneOn) {
  std::int64_t calls = calls_of_a_walk();
  for (std::int64_t nth = 1; nth <= calls; nth += 3) {
    SCOPED_TRACE("from call " + std::to_string(nth) + " of " + std::to_string(calls));
    Walk walk(device());
    standin().fail_at(nullptr, nth, unknown_error, true);
    bool done = true;
    for (std::size_t step = 0; step < std::size(Walk::steps) && done; ++step) try {
        walk.step(step);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::device);
        done = false;
      }
    standin().drop_pending();
    standin().misuse();  // what could not be ended is not Fuseline's
    if (HasFailure()) return;
  }
  standin().fail_at(nullptr, 0, 0, false);
  Walk walk(device());
  for (std::size_t step = 0; step < std::size(Walk::steps); ++step) walk.step(step);
}

// A kernel that nobody has loaded, and a constant that goes to the device.
TEST_F(Failures, OfLoadingAKernelLeaveNoModule) {
  std::array<float, 40> in{}, weights{}, out{};
  in.fill(3);
  weights.fill(2);
  Graph g;
  Value x = g.input("x", DType::f32, {40});
  g.output("y", x * g.constant(Tensor::of(weights.data(), {40})) + 1.0);
  auto modules = [] {
    return standin().done("cuModuleLoadData") - standin().done("cuModuleUnload");
  };
  auto run = [&] {
    out.fill(0);
    Lane lane = compile_on(device(), g, {}).make_lane();
    lane.run({{"x", Tensor::of(in.data(), {40})}}, {{"y", Tensor::of(out.data(), {40})}});
  };
  std::int64_t modules_before = modules();
  for (const char* call :
       {"cuCtxGetCurrent", "cuStreamCreate", "cuMemAlloc", "cuMemcpyHtoDAsync",
        "cuStreamSynchronize", "cuModuleLoadData", "cuModuleGetFunction", "cuFuncGetAttribute"}) {
    SCOPED_TRACE(call);
    std::string before = open_handles();
    standin().fail_at(call, 1, unknown_error, false);
    EXPECT_THROW(run(), Error);
    EXPECT_EQ(open_handles(), before);
    EXPECT_EQ(modules(), modules_before);
  }
  standin().fail_at(nullptr, 0, 0, false);
  run();
  EXPECT_EQ(out[39], 7);
}

// A frame so large that launch shapes are measured; kernels do nothing, so that this is quick.
TEST(FailuresChild, DISABLED_OfMeasuring) {
  if (!child_argument()) GTEST_SKIP() << "the child of another test";
  set_env(EnvVar::cache, "off");  // measured again each time
  standin();
  DescribedDevice device(open_device("cuda"), Kernels::skipped);
  MaskRun run(700, 600, 1);
  auto walk = [&](std::int64_t nth) {
    SCOPED_TRACE("call " + std::to_string(nth));
    std::string before = open_handles();
    standin().fail_at(nullptr, nth, unknown_error, false);
    try {
      Lane lane = compile_on(device, mask_graph(), {}).make_lane();
      for (int again = 0; again < 2; ++again) run.run(lane, false);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::device);
    }
    if (std::string_view(standin().failed_name()) != "cuCtxPushCurrent") {
      EXPECT_EQ(open_handles(), before) << standin().failed_name();
    }
    if (standin().simulated()) {
      EXPECT_EQ(standin().pending(), 0);
      EXPECT_STREQ(standin().misuse(), "");
    }
    return standin().failed() > 0;
  };
  walk(0);
  std::int64_t before = standin().calls("cuGraphInstantiate");
  walk(0);
  EXPECT_GT(standin().calls("cuGraphInstantiate") - before, 2) << "nothing was measured";
  // Most of the calls are replays, one like the other.
  for (std::int64_t nth = 1; walk(nth) && !HasFailure(); nth += 1 + nth / 16) {
  }
  std::_Exit(HasFailure() ? 1 : 42);
}

TEST_F(Failures, OfMeasuringLaunchShapes) {
  EXPECT_EQ(ChildProcess("FailuresChild.DISABLED_OfMeasuring", "").wait(), 42);
}

TEST_F(Failures, OfALaneOfThePoolLeaveThePoolWell) {
  MaskRun run(5, 21, 7);
  for (const char* call : {"cuStreamCreate", "cuMemAlloc", "cuStreamSynchronize"}) {
    Program program = compile_on(device(), mask_graph(), {});
    standin().fail_at(call, 1, unknown_error, false);
    EXPECT_THROW(program.run(run.inputs(), run.outputs()), Error) << call;
    program.run(run.inputs(), run.outputs());
    run.expect_results();
  }
}

TEST_F(Failures, OutOfMemoryTellsTheBytes) {
  for (Memory memory : {Memory::stays, Memory::moves}) {
    Program program = compile_on(device(Kernels::run, memory), mask_graph(), {});
    Lane lane = program.make_lane();
    MaskRun run(61, 67, 4);
    const char* call = memory == Memory::moves ? "cuMemAlloc" : "cuMemCreate";
    standin().fail_at(call, 1, cuda::driver_api::error_out_of_memory, false);
    try {
      run.run(lane);
      FAIL() << "there was no memory";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::device);
      EXPECT_THAT(error.what(), ::testing::ContainsRegex("no [0-9]+ bytes of memory left"));
    }
    run.run(lane);
  }
}

TEST_F(Failures, ADeviceTooSmallIsTold) {
  if (!standin().simulated()) GTEST_SKIP() << "a real device";
  for (Memory memory : {Memory::stays, Memory::moves}) {
    Lane lane = compile_on(device(Kernels::run, memory), mask_graph(), {}).make_lane();
    MaskRun run(200, 300, 5), small(8, 8, 6);
    standin().limit_memory(standin().memory_in_use() + 100000);
    for (int again = 0; again < 2; ++again) {
      EXPECT_THROW(run.run(lane), Error);
      small.run(lane);
    }
    standin().limit_memory(0);
    run.run(lane);
    small.run(lane);
  }
}

}  // namespace
}  // namespace fuseline::test
