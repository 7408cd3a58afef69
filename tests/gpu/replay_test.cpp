// Many replays with changing inputs, alone and in two processes at once.
#include "fuseline/program.hpp"
#include "gpu/support.hpp"
#include "support/child_process.hpp"
#include "support/mask_graph.hpp"
#include "support/random_frame.hpp"

namespace fuseline::test {
namespace {

using Replay = GpuTest;

struct Outputs {
  std::vector<std::uint8_t> mask;
  std::int64_t area = 0;
  TensorMap map;
  Outputs(std::int64_t h, std::int64_t w)
      : mask(static_cast<std::size_t>(h * w)),
        map{{"mask", Tensor::of(mask.data(), {h, w})}, {"area", Tensor::of(&area, {})}} {}
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;
};

// A frame, and its area kept up to date while single bytes change.
class ChangingFrame {
 public:
  ChangingFrame(std::int64_t h, std::int64_t w, unsigned seed)
      : frame_(h, w, seed), inputs_{{"frame", frame_.tensor()}}, area_(frame_.area(127)) {}
  ChangingFrame(const ChangingFrame&) = delete;
  ChangingFrame& operator=(const ChangingFrame&) = delete;

  void change(std::size_t run) {
    std::size_t at = run * 2654435761u % frame_.pixels.size();
    area_ -= is_set(at / 3);
    frame_.pixels[at] = static_cast<std::uint8_t>(frame_.pixels[at] + 77);
    area_ += is_set(at / 3);
  }
  const TensorMap& inputs() const { return inputs_; }
  std::int64_t area() const { return area_; }

 private:
  bool is_set(std::size_t pixel) const {
    const std::uint8_t* p = &frame_.pixels[3 * pixel];
    return (9798 * p[0] + 19235 * p[1] + 3735 * p[2] + 16384) >> 15 > 127;
  }
  RandomFrame frame_;
  TensorMap inputs_;
  std::int64_t area_;
};

void replay_and_compare(int runs, unsigned seed) {
  Lane recorded = compile(mask_graph(), {.device = "cuda"}).make_lane();
  Lane eager = compile(mask_graph(), {.device = "cuda", .record = Record::off}).make_lane();
  ChangingFrame frame(77, 131, seed), other(77, 131, seed + 1);
  Outputs a(77, 131), b(77, 131);
  for (int run = 0; run < runs; ++run) {
    ChangingFrame& now = run % 7 == 3 ? other : frame;  // another address now and then
    now.change(static_cast<std::size_t>(run));
    recorded.run(now.inputs(), a.map);
    ASSERT_EQ(a.area, now.area()) << "run " << run;
    if (run % 1000 != 0) continue;
    eager.run(now.inputs(), b.map);
    ASSERT_EQ(a.area, b.area) << "run " << run;
    ASSERT_EQ(a.mask, b.mask) << "run " << run;
  }
}

TEST_F(Replay, AHundredThousandAreBitEqualToEagerRuns) { replay_and_compare(100000, 1); }

TEST(ReplayChild, DISABLED_ReplaysInAProcessOfItsOwn) {
  if (!child_argument()) GTEST_SKIP() << "the child of another test";
  replay_and_compare(5000, static_cast<unsigned>(std::atoi(child_argument())));
}

TEST_F(Replay, TwoProcessesDoNotDisturbEachOther) {
  ChildProcess first("ReplayChild.DISABLED_ReplaysInAProcessOfItsOwn", "100");
  ChildProcess second("ReplayChild.DISABLED_ReplaysInAProcessOfItsOwn", "200");
  replay_and_compare(5000, 300);
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
}

}  // namespace
}  // namespace fuseline::test
