// fuseline diagnose on a CUDA device: a real one, or the stand-in driver, whose kernels do nothing.
#include "cli/support.hpp"

namespace fuseline::test {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

class DiagnoseCuda : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    png("in.png", 240, 320);
    Outcome mask = on_device({"mask", "in.png", "--device", "cuda", "--area-only"});
    if (mask.code == 3) GTEST_SKIP() << mask.err;
    ASSERT_EQ(mask.code, 0) << mask.err;
  }
  Outcome on_device(const Words& words) const {
    return run(words, "FUSELINE_STANDIN_SKIP_KERNELS=1 FUSELINE_LIBRARY_PATH=" +
                          shell_word(FUSELINE_BINARY_DIR "/tests/cuda_driver"));
  }
  Outcome diagnose(const Words& more) const {
    Words words = {"diagnose", "--seconds", "0.3", "--runs", "3", "--sweep"};
    words.insert(words.end(), more.begin(), more.end());
    return on_device(words);
  }
};

TEST_F(DiagnoseCuda, TakesTheRecordingApart) {
  Outcome outcome =
      diagnose({"--json", "--", "mask", "in.png", "-o", "out.png", "--device", "cuda"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  nlohmann::json json = outcome.json();
  const nlohmann::json& timed = json["timed_recording"];
  ASSERT_TRUE(timed.contains("ratio")) << timed;
  EXPECT_GT(timed["ratio"]["value"].get<double>(), 0);
  ASSERT_EQ(timed["steps"].size(), 4u);
  EXPECT_EQ(timed["steps"][0]["kind"], "upload");
  EXPECT_EQ(timed["steps"][0]["bytes"], 240 * 320 * 3);
  EXPECT_EQ(timed["steps"][1]["kind"], "kernel");
  EXPECT_TRUE(timed["steps"][1]["alone_us"].contains("value"));
  EXPECT_TRUE(timed["steps"][2]["alone_us"].is_null());
  const nlohmann::json& null = json["null_kernels"];
  EXPECT_EQ(null["arithmetic_against"], "null kernels");
  EXPECT_TRUE(null["launches_ms"].contains("value"));
  EXPECT_TRUE(json["gain_of_fusion"].contains("launch_cost_ms")) << json["gain_of_fusion"];
}

TEST_F(DiagnoseCuda, MeasuresTheDeviceAndItsLaunches) {
  nlohmann::json json =
      diagnose({"--json", "--", "mask", "in.png", "--area-only", "--device", "cuda"}).json();
  std::string paths, launches;
  for (const auto& point : json["copies"]["points"]) paths += point["path"].get<std::string>();
  for (const char* path : {"to the GPU, pinned", "from the GPU, pageable", "GPU memory, copied",
                           "GPU memory, written", "GPU memory, read"})
    EXPECT_THAT(paths, HasSubstr(path));
  for (const auto& cost : json["copies"]["launches"]) launches += cost["how"].get<std::string>();
  EXPECT_THAT(launches, HasSubstr("in a recording"));
  EXPECT_GT(json["copies"]["theoretical_peaks"][1]["gb_per_s"].get<double>(), 10);
  const nlohmann::json& shapes = json["shapes"];
  ASSERT_EQ(shapes.size(), 1u);
  EXPECT_GT(shapes[0]["rows"].size(), 6u);
  EXPECT_EQ(shapes[0]["taken"], 0);
  EXPECT_GT(shapes[0]["rows"][0]["registers"].get<int>(), 0);
  EXPECT_GT(shapes[0]["rows"][0]["occupancy"].get<double>(), 0);
  EXPECT_EQ(shapes[0]["rows"].back()["resident_blocks"], 4);
  EXPECT_THAT(json["threads"]["not_measured"].get<std::string>(), HasSubstr("run on the GPU"));
}

TEST_F(DiagnoseCuda, ReportsIn80Columns) {
  Outcome outcome = diagnose({"--", "mask", "in.png", "--area-only", "--device", "cuda"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  for (const char* part :
       {"points of time around every step", "upload frame", "Sweep over launches",
        "GPU memory, read", "no kernels", "each of a hundred in a recording"})
    EXPECT_THAT(outcome.out, HasSubstr(part));
}

}  // namespace
}  // namespace fuseline::test
