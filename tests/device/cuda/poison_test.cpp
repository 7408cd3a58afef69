// A kernel that is given memory which is not there: the run is an Error that names the kernel, and
// the Program gives nothing any more.
#include <gmock/gmock.h>

#include "base/env.hpp"
#include "device/cuda/walk.hpp"
#include "support/child_process.hpp"

namespace fuseline::test {
namespace {

using ::testing::HasSubstr;

using Poison = CudaTest;

std::string message_of(Lane& lane, const TensorMap& inputs, const TensorMap& outputs) {
  try {
    lane.run(inputs, outputs);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    return error.what();
  }
  return "the run returned";
}

// The device is lost to the process.
TEST(PoisonChild, DISABLED_MeetsAnIllegalAddress) {
  if (!child_argument()) GTEST_SKIP() << "the child of another test";
  standin();
  DescribedDevice device(open_device("cuda"));
  int good_runs = std::atoi(child_argument());
  Program program = compile_on(device, mask_graph(), {});
  Lane lane = program.make_lane();
  MaskRun good(16, 48, 1);
  for (int run = 0; run < good_runs; ++run) good.run(lane);
  std::string kernel = program.report()[0].name;
  Tensor nowhere(reinterpret_cast<void*>(standin().wild_address()), DType::u8, {16, 48, 3},
                 device.id());
  EXPECT_THAT(message_of(lane, {{"frame", nowhere}}, good.outputs()), HasSubstr(kernel));
  std::vector<std::uint8_t> mask(16 * 48, 77);
  std::int64_t area = -5;
  TensorMap untouched = {{"mask", Tensor::of(mask.data(), {16, 48})},
                         {"area", Tensor::of(&area, {})}};
  for (int again = 0; again < 2; ++again)
    EXPECT_NE(message_of(lane, good.inputs(), untouched), "the run returned");
  EXPECT_THROW(program.make_lane().run(good.inputs(), untouched), Error);
  EXPECT_EQ(area, -5);
  EXPECT_THAT(mask, ::testing::Each(77));
  std::_Exit(HasFailure() ? 1 : 42);
}

// With a wait behind every launch the kernel is known among many.
TEST(PoisonChild, DISABLED_ChecksEachKernel) {
  if (!child_argument()) GTEST_SKIP() << "the child of another test";
  set_env(EnvVar::check, "each");
  standin();
  DescribedDevice device(open_device("cuda"));
  Program program = compile_on(device, mask_graph(), {.fusion = false});
  Lane lane = program.make_lane();
  MaskRun good(16, 48, 1);
  good.run(lane);
  ASSERT_GT(program.report().size(), 2u);
  Tensor nowhere(reinterpret_cast<void*>(standin().wild_address()), DType::u8, {16, 48, 3},
                 device.id());
  EXPECT_THAT(message_of(lane, {{"frame", nowhere}}, good.outputs()),
              HasSubstr("kernel " + program.report()[0].name));
  std::_Exit(HasFailure() ? 1 : 42);
}

TEST_F(Poison, AnIllegalAddressIsToldAndNothingFollows) {
  for (const char* good_runs : {"0", "1", "3"}) {
    SCOPED_TRACE(good_runs);
    EXPECT_EQ(ChildProcess("PoisonChild.DISABLED_MeetsAnIllegalAddress", good_runs).wait(), 42);
  }
}

TEST_F(Poison, CheckingEachNamesTheKernelAmongMany) {
  EXPECT_EQ(ChildProcess("PoisonChild.DISABLED_ChecksEachKernel", "").wait(), 42);
}

}  // namespace
}  // namespace fuseline::test
