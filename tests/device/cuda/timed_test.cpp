// Recordings with points of time around every step, on the device or its simulation.
#include <gmock/gmock.h>

#include "device/cuda/walk.hpp"

namespace fuseline::test {
namespace {

using Kind = StepTime::Kind;

class Timed : public CudaTest {
 protected:
  static std::shared_ptr<Program::Impl> program() {
    return std::make_shared<Program::Impl>(mask_graph(), CompileOptions{}, device());
  }
};

TEST_F(Timed, EveryStepHasItsTime) {
  Lane::Impl lane(program());
  MaskRun run(33, 65, 1);
  std::vector<StepTime> steps = lane.run_timed(run.inputs(), run.outputs());
  run.expect_results();
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[0].kind, Kind::upload);
  EXPECT_EQ(steps[0].name, "frame");
  EXPECT_EQ(steps[0].bytes, 33 * 65 * 3);
  EXPECT_EQ(steps[1].kind, Kind::kernel);
  EXPECT_THAT(steps[1].name, testing::StartsWith("fl_"));
  EXPECT_EQ(steps[2].kind, Kind::download);
  EXPECT_EQ(steps[3].name, "area");
  for (const StepTime& step : steps) {
    EXPECT_GE(step.us, 0) << step.name;
    EXPECT_LT(step.us, 60e6) << step.name;
    EXPECT_EQ(step.times, 1);
  }
  EXPECT_GT(steps[0].us + steps[1].us + steps[2].us + steps[3].us, 0);
}

TEST_F(Timed, TheRecordingIsKeptAndTheOrdinaryOneStays) {
  Lane::Impl lane(program());
  MaskRun run(9, 33, 2), other(9, 33, 3);
  for (int i = 0; i < 3; ++i) lane.run(run.inputs(), run.outputs());
  lane.run_timed(run.inputs(), run.outputs());
  auto graphs = standin().calls("cuGraphCreate");
  for (int i = 0; i < 3; ++i) {
    run.change();
    lane.run_timed(run.inputs(), run.outputs());
    run.expect_results();
    run.change();
    lane.run(run.inputs(), run.outputs());
    run.expect_results();
  }
  EXPECT_EQ(standin().calls("cuGraphCreate"), graphs);
  lane.run_timed(other.inputs(), other.outputs());  // other memory: another recording
  other.expect_results();
  EXPECT_EQ(standin().calls("cuGraphCreate"), graphs + 1);
}

TEST_F(Timed, ShortKernelsAreRepeated) {
  Lane::Impl lane(program());
  MaskRun run(33, 65, 4);
  lane.run(run.inputs(), run.outputs());
  std::string before = open_handles();
  std::vector<StepTime> steps = lane.run_repeated(run.inputs(), run.outputs(), 1000);
  run.expect_results();
  EXPECT_EQ(open_handles(), before) << "the second recording is still there";
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_GE(steps[1].times, 1);
  EXPECT_GT(steps[1].us * steps[1].times, 300) << "far below a millisecond";
  EXPECT_EQ(steps[0].times, 1);
}

TEST_F(Timed, AFailureLeavesOrdinaryRunsAlone) {
  Lane::Impl lane(program());
  MaskRun run(9, 33, 5);
  lane.run(run.inputs(), run.outputs());
  for (const char* call : {"cuEventCreate", "cuGraphAddEventRecordNode", "cuEventElapsedTime"}) {
    standin().fail_at(call, 1, 999, false);
    EXPECT_THROW(lane.run_timed(run.inputs(), run.outputs()), Error) << call;
    EXPECT_STREQ(standin().failed_name(), call);
    run.change();
    lane.run(run.inputs(), run.outputs());
    run.expect_results();
  }
  EXPECT_EQ(lane.run_timed(run.inputs(), run.outputs()).size(), 4u);
}

TEST_F(Timed, TheDeviceTellsItsMemory) {
  DeviceFacts facts = open_device("cuda").facts();
  ASSERT_TRUE(facts.memory_gb_per_s);
  EXPECT_GT(*facts.memory_gb_per_s, 10);
  EXPECT_GT(facts.cache_bytes.value_or(0), 0);
  EXPECT_THAT(facts.bus_id, testing::HasSubstr(":"));
  if (standin().simulated()) {
    EXPECT_NEAR(*facts.memory_gb_per_s, 2 * 1e9 * 512 / 8 / 1e9, 1e-9);
  }
}

}  // namespace
}  // namespace fuseline::test
