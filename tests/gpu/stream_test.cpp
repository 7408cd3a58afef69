// Work on a stream of the caller, also while the caller captures it.
#include <vector>

#include "base/fail.hpp"
#include "gpu/driver.hpp"
#include "gpu/support.hpp"
#include "program/program_impl.hpp"
#include "support/mask_graph.hpp"

namespace fuseline::test {
namespace {

constexpr std::int64_t height = 61, width = 129;
constexpr int thread_local_mode = 1;

class CallersStream : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    check(driver().primary_retain(&context_, 0));
    check(driver().context_push(context_));
    check(driver().stream_create(&stream_, api::stream_non_blocking));
  }
  void TearDown() override {
    if (!stream_) return;
    api::Context popped = nullptr;
    driver().stream_destroy(stream_);
    driver().context_pop(&popped);
  }
  // Every pixel of this gray: all of them are above the threshold, or none.
  static std::vector<std::uint8_t> frame_of(std::uint8_t gray) {
    return std::vector<std::uint8_t>(static_cast<std::size_t>(3 * height * width), gray);
  }

  api::Context context_ = nullptr;
  api::Stream stream_ = nullptr;
};

TEST_F(CallersStream, TakesWorkAndACaptureOfIt) {
  Device& device = open_device("cuda");
  auto bright = frame_of(200), dark = frame_of(10);
  OnDevice frame(device, bright.data(), bright.size()), area(device, 8),
      mask(device, static_cast<std::size_t>(height * width));
  TensorMap inputs = {{"frame", Tensor(frame.data(), DType::u8, {height, width, 3}, device.id())}};
  TensorMap outputs = {{"mask", Tensor(mask.data(), DType::u8, {height, width}, device.id())},
                       {"area", Tensor(area.data(), DType::i64, {}, device.id())}};
  auto write = [&](const std::vector<std::uint8_t>& pixels) {
    auto queue = device.make_queue();
    queue->upload(frame.data(), pixels.data(), pixels.size());
    queue->wait();
  };
  auto result = [&] {
    check(driver().stream_wait(stream_));
    std::int64_t value = -1;
    area.download(&value);
    return value;
  };
  Lane lane = compile(mask_graph(), {.device = "cuda"}).make_lane();

  check(driver().begin_capture(stream_, thread_local_mode));
  EXPECT_THROW(lane.enqueue(inputs, outputs, stream_), Error) << "the size has not run yet";
  api::Graph graph = nullptr;
  check(driver().end_capture(stream_, &graph));
  check(driver().graph_destroy(graph));

  for (int run = 0; run < 3; ++run) {  // launch by launch, then recorded
    write(run % 2 ? dark : bright);
    lane.enqueue(inputs, outputs, stream_);
    EXPECT_EQ(result(), run % 2 ? 0 : height * width) << "run " << run;
  }

  check(driver().begin_capture(stream_, thread_local_mode));
  lane.enqueue(inputs, outputs, stream_);
  check(driver().end_capture(stream_, &graph));
  api::Exec exec = nullptr;
  check(driver().graph_instantiate(&exec, graph, 0));
  for (const auto* pixels : {&dark, &bright, &dark}) {
    write(*pixels);
    check(driver().exec_launch(exec, stream_));
    EXPECT_EQ(result(), pixels == &bright ? height * width : 0);
  }
  check(driver().exec_destroy(exec));
  check(driver().graph_destroy(graph));
  write(bright);
  lane.run(inputs, outputs);
  EXPECT_EQ(result(), height * width) << "the Lane is as before";
}

}  // namespace
}  // namespace fuseline::test
