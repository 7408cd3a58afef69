// fuseline diagnose on programs whose bound is built in, and on the mask command.
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "cli/support.hpp"
#include "fuseline/stage.h"

namespace fuseline::test {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

void spin(double ms) {
  auto begin = Clock::now();
  while (std::chrono::duration<double, std::milli>(Clock::now() - begin).count() < ms) {
  }
}
void rest(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }
void stage(const char* name, double ms) {
  StageMark mark(name);
  spin(ms);
}

constexpr double much = 80, little = 2;  // ms

// The programs: this file's disabled tests, run as processes.
TEST(DiagnoseProgram, DISABLED_SlowDecode) {
  stage("decode", much);
  stage("kernels", little);
}

TEST(DiagnoseProgram, DISABLED_SlowCopy) {
  constexpr std::size_t bytes = 16 << 20;
  std::vector<char> from(bytes, 1), to(bytes);
  stage("decode", little);
  StageMark mark("h2d");
  for (auto begin = Clock::now(); Clock::now() - begin < std::chrono::milliseconds(300);) {
    std::memcpy(to.data(), from.data(), bytes);
    asm volatile("" : : "r"(to.data()) : "memory");
  }
}

TEST(DiagnoseProgram, DISABLED_ManyLaunches) {
  stage("decode", little);
  for (int i = 0; i < 2000; ++i) {
    stage("kernels", 0.002);
    WaitMark wait("stream");
    rest(0.02);
  }
}

TEST(DiagnoseProgram, DISABLED_SlowKernels) {
  stage("decode", little);
  stage("kernels", much);
}

TEST(DiagnoseProgram, DISABLED_SlowKernelsNull) { stage("decode", little); }

TEST(DiagnoseProgram, DISABLED_LongWait) {
  stage("kernels", little);
  WaitMark wait("device");
  rest(much);
}

TEST(DiagnoseProgram, DISABLED_ManyFrames) {
  for (int i = 0; i < 20; ++i) {
    StageMark frame("frame");
    stage("decode", 3);
    stage("kernels", 9);
  }
}

class DiagnoseCommand : public CliTest {
 protected:
  Outcome diagnose(const Words& words) const {
    Words all = {"diagnose", "--seconds", "0.5"};
    all.insert(all.end(), words.begin(), words.end());
    return run(all);
  }
  nlohmann::json of_program(const std::string& name) const {
    Outcome outcome = diagnose({"--runs", "8", "--json", "--", self(),
                                "--gtest_filter=DiagnoseProgram.DISABLED_" + name,
                                "--gtest_also_run_disabled_tests"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.json();
  }
  static std::string self() { return std::filesystem::read_symlink("/proc/self/exe"); }
};

TEST_F(DiagnoseCommand, NamesTheBoundThatIsBuiltIn) {
  nlohmann::json decode = of_program("SlowDecode");
  EXPECT_EQ(decode["bound"], "input-bound");
  EXPECT_EQ(decode["findings"][0]["rows"], Words{"decode"});
  for (std::size_t i = 1; i < decode["findings"].size(); ++i)
    EXPECT_GE(decode["findings"][i - 1]["gain_ms"], decode["findings"][i]["gain_ms"]);
  EXPECT_EQ(of_program("SlowCopy")["bound"], "copy-bound");
  EXPECT_EQ(of_program("ManyLaunches")["bound"], "launch-bound");
  EXPECT_EQ(of_program("LongWait")["bound"], "sync-bound");
  nlohmann::json kernels = of_program("SlowKernels");
  EXPECT_EQ(kernels["bound"], "kernel-bound");
  EXPECT_NEAR(kernels["findings"][0]["gain_ms"].get<double>(), much, 0.5 * much);
  EXPECT_GT(kernels["kernel_ceiling"]["value"].get<double>(), 1.2);
  EXPECT_THAT(kernels["null_kernels"]["not_measured"].get<std::string>(),
              HasSubstr("--null names a program of the same work"));
  for (const char* experiment : {"timed_recording", "gain_of_fusion", "sweep"})
    EXPECT_FALSE(kernels[experiment]["not_measured"].get<std::string>().empty()) << experiment;
  EXPECT_FALSE(kernels["copies"]["points"].empty());
}

TEST_F(DiagnoseCommand, AnswersWhatIf) {
  Outcome outcome = diagnose({"--runs", "5", "--what-if", "kernel=6.6x", "--json", "--", self(),
                              "--gtest_filter=DiagnoseProgram.DISABLED_SlowKernels",
                              "--gtest_also_run_disabled_tests"});
  nlohmann::json answer = outcome.json()["what_if"][0];
  EXPECT_EQ(answer["stage"], "kernels");
  double before = answer["before_ms"]["value"], after = answer["after_ms"]["value"];
  EXPECT_NEAR(before - after, much * (1 - 1 / 6.6), 0.5 * much);
  EXPECT_GT(answer["speedup"]["value"].get<double>(), 1.2);
}

TEST_F(DiagnoseCommand, LooksAtOneFrameOfALoop) {
  Outcome outcome = diagnose({"--runs", "5", "--per", "frame", "--json", "--", self(),
                              "--gtest_filter=DiagnoseProgram.DISABLED_ManyFrames",
                              "--gtest_also_run_disabled_tests"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["bound"], "kernel-bound");
  EXPECT_NEAR(outcome.json()["wall"]["min"].get<double>(), 12, 6);
}

TEST_F(DiagnoseCommand, TriesTheMaskCommand) {
  jpeg("in.jpg", 600, 800);
  ASSERT_EQ(run({"mask", "in.jpg", "-o", "expected.png"}).code, 0);
  Outcome outcome = diagnose({"--runs", "5", "--json", "--", "mask", "in.jpg", "-o", "out.png"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  nlohmann::json json = outcome.json();
  // What the command itself wrote; no experiment touched it or left anything beside it.
  EXPECT_EQ(bytes_of(path("out.png")), bytes_of(path("expected.png")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 3);
  const nlohmann::json& null = json["null_kernels"];
  EXPECT_GT(null["null_frame_ms"]["value"].get<double>(), 0);
  EXPECT_GE(null["arithmetic_ceiling"]["value"].get<double>(), 1);
  // A CPU's kernels are timed with their launches.
  EXPECT_EQ(null["arithmetic_against"], "no kernels");
  EXPECT_EQ(null["agree"].get<bool>(),
            null["no_kernels_ceiling"]["low"] <= null["arithmetic_ceiling"]["high"] &&
                null["arithmetic_ceiling"]["low"] <= null["no_kernels_ceiling"]["high"]);
  EXPECT_THAT(json["timed_recording"]["not_measured"].get<std::string>(), HasSubstr("nothing to record"));
  EXPECT_EQ(json["shapes"]["not_measured"], "only with --sweep");
  const nlohmann::json& gain = json["gain_of_fusion"];
  EXPECT_GT(gain["launches_before"], gain["launches_after"]);
  // Read 3 bytes a pixel, write one, and a count.
  EXPECT_NEAR(gain["bytes_after"].get<double>(), 4 * 600 * 800, 4096);
  EXPECT_GT(gain["bytes_before"], gain["bytes_after"]);
  EXPECT_NEAR(gain["launches_ms"].get<double>() + gain["bytes_ms"].get<double>() +
                  gain["unexplained_ms"].get<double>(),
              gain["saved_ms"]["value"].get<double>(), 1e-9);
  const nlohmann::json& sizes = json["sweep"]["sizes"];
  ASSERT_EQ(sizes.size(), 3u);
  EXPECT_EQ(sizes[0]["size"], "200 x 150");
  EXPECT_EQ(sizes[2]["size"], "800 x 600");
  EXPECT_THAT(json["sweep"]["how"].get<std::string>(), HasSubstr("JPEG"));
}

TEST_F(DiagnoseCommand, TakesSeveralPicturesApart) {
  std::filesystem::create_directory(folder_ / "in");
  jpeg("in/a.jpg", 80, 100);
  png("in/b.png", 64, 70);
  Outcome outcome = diagnose({"--runs", "3", "--json", "--", "mask", "in", "-o", "out"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  nlohmann::json json = outcome.json();
  EXPECT_THAT(json["experiments_on"].get<std::string>(), HasSubstr("all 2 pictures"));
  EXPECT_EQ(json["null_kernels"]["of"], "set of 2 pictures");
  EXPECT_GT(json["null_kernels"]["frame_ms"]["value"].get<double>(), 0);
  EXPECT_GT(json["gain_of_fusion"]["launches_before"], json["gain_of_fusion"]["launches_after"]);
  // The mean of both.
  EXPECT_NEAR(json["gain_of_fusion"]["bytes_after"].get<double>(), 2 * (80 * 100 + 64 * 70), 2048);
  const nlohmann::json& sizes = json["sweep"]["sizes"];
  ASSERT_EQ(sizes.size(), 3u);
  EXPECT_EQ(sizes[2]["size"], "2 pictures");
  EXPECT_NEAR(sizes[2]["amount"].get<double>(), (80 * 100 + 64 * 70) / 1e6, 1e-9);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2);
}

TEST_F(DiagnoseCommand, SweepsThreadsOnACpu) {
  png("in.png", 100, 90);
  nlohmann::json json =
      diagnose({"--sweep", "--runs", "3", "--json", "--", "mask", "in.png", "--area-only"}).json();
  EXPECT_THAT(json["shapes"]["not_measured"].get<std::string>(), HasSubstr("a CPU has no blocks"));
  if (json["threads"].contains("not_measured")) {
    EXPECT_THAT(json["threads"]["not_measured"].get<std::string>(), HasSubstr("one processor"));
    return;
  }
  EXPECT_EQ(json["threads"]["rows"][0]["threads"], 1);
  EXPECT_GT(json["threads"]["rows"][0]["wall_ms"]["value"].get<double>(), 0);
}

TEST_F(DiagnoseCommand, AnotherProgramBringsItsOwnNullRun) {
  auto words = [](const char* name) {
    return Words{self(), std::string("--gtest_filter=DiagnoseProgram.DISABLED_") + name,
                 "--gtest_also_run_disabled_tests"};
  };
  std::string null;
  for (const std::string& word : words("SlowKernelsNull")) null += "'" + word + "' ";
  Words all = {"--runs", "6", "--json", "--null", null, "--no-kernels", null, "--"};
  for (const std::string& word : words("SlowKernels")) all.push_back(word);
  nlohmann::json json = diagnose(all).json();
  const nlohmann::json& run = json["null_kernels"];
  EXPECT_NEAR(run["kernels_ms"]["value"].get<double>(), much, 0.5 * much);
  EXPECT_GT(run["measured_ceiling"]["value"].get<double>(), 1.2);
  EXPECT_EQ(json["findings"][0]["basis"], "measured");
  EXPECT_EQ(json["bound"], "kernel-bound");
}

TEST_F(DiagnoseCommand, ReportsIn80Columns) {
  png("in.png", 100, 90);
  Outcome outcome = diagnose({"--runs", "3", "--", "mask", "in.png", "--area-only"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  for (const char* part : {"Findings", "null run", "fusion", "re-encoded as PNG", "Copies, GB/s"})
    EXPECT_THAT(outcome.out, HasSubstr(part));
}

TEST_F(DiagnoseCommand, SaysWhatItCannotMeasure) {
  png("tiny.png", 12, 20);
  nlohmann::json json = diagnose({"--runs", "2", "--json", "--", "mask", "tiny.png"}).json();
  EXPECT_THAT(json["sweep"]["not_measured"].get<std::string>(), HasSubstr("20 x 12 pixels"));
  EXPECT_TRUE(json["null_kernels"].contains("agree"));
  json = diagnose({"--runs", "2", "--json", "--", "mask", "tiny.png", "--account"}).json();
  EXPECT_THAT(json["null_kernels"]["not_measured"].get<std::string>(), HasSubstr("--account"));
}

TEST_F(DiagnoseCommand, BadInput) {
  expect_one_line(diagnose({}).err, "name a command behind --");
  expect_one_line(diagnose({"--what-if", "kernels", "--", "true"}).err, "is not STAGE=Nx");
  expect_one_line(diagnose({"--no-kernels", "true", "--", "true"}).err, "needs --null");
  expect_one_line(diagnose({"--what-if", "kernels=fast", "--", "true"}).err, "not a number");
  expect_one_line(diagnose({"--what-if", "kernels=2x", "--", "true"}).err,
                  "no stage \"kernels\" was marked; there are: unexplained");
  Outcome outcome = diagnose({"--", "false"});
  EXPECT_EQ(outcome.code, 2);
  expect_one_line(outcome.err, "failed with exit code 1");
}

}  // namespace
}  // namespace fuseline::test
