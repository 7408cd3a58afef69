// NVTX on the command line: ranges of other programs as stages, and our own ranges at a tool.
#include "cli/support.hpp"
#include "fuseline/stage.h"

namespace fuseline::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class NvtxCommand : public CliTest {
 protected:
  static std::string reader() { return FUSELINE_BINARY_DIR "/lib/libfuseline_nvtx.so"; }

  nlohmann::json bench(const std::vector<std::string>& command) const {
    std::vector<std::string> words = {"bench", "--runs", "3", "--no-store", "--json", "--"};
    words.insert(words.end(), command.begin(), command.end());
    Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.json();
  }
  static std::map<std::string, double> rows_of(const nlohmann::json& json) {
    std::map<std::string, double> rows;
    for (const auto& row : json["sides"][0]["rows"]) rows[row["name"]] = row["median"];
    return rows;
  }
  // Names of the begins of one kind in the file of marks.
  std::vector<std::string> begins(const std::string& name, int kind) const {
    Bytes bytes = bytes_of(path(name));
    std::vector<std::string> names;
    for (std::size_t at = sizeof(fuseline_stage_header);
         at + sizeof(fuseline_stage_mark) <= bytes.size(); at += sizeof(fuseline_stage_mark)) {
      fuseline_stage_mark mark;
      std::memcpy(&mark, bytes.data() + at, sizeof mark);
      if (mark.kind == kind) names.emplace_back(mark.name);
    }
    return names;
  }
};

TEST_F(NvtxCommand, RangesOfAProgramWithNvidiasHeaderAreStages) {
  std::string client = FUSELINE_BINARY_DIR "/tests/nvtx_client";
  if (!std::filesystem::exists(client)) GTEST_SKIP() << "built without nvtx3/nvToolsExt.h";
  nlohmann::json json = bench({client});
  auto rows = rows_of(json);
  EXPECT_GE(rows["decode"], 20);
  EXPECT_GE(rows["inner"], 10);
  EXPECT_GE(rows["codec:encode"], 15);
  EXPECT_GE(rows["caf\u00e9"], 10);
  EXPECT_EQ(rows.size(), 5u) << "these and unexplained";
  EXPECT_EQ(json["environment"]["stages"], "NVTX ranges");
}

TEST_F(NvtxCommand, RangesOfThePythonModuleAreStages) {
  const char* python = std::getenv("FUSELINE_TEST_PYTHON");
  if (!python) GTEST_SKIP() << "FUSELINE_TEST_PYTHON is not set";
  if (shell(shell_word(python) + " -c 'import nvtx'").code != 0) GTEST_SKIP() << "no module nvtx";
  file("frames.py",
       std::string("import nvtx, time\n"
                   "with nvtx.annotate('decode'):\n"
                   "  time.sleep(0.02)\n"
                   "with nvtx.annotate('encode', domain='codec'): time.sleep(0.01)\n"
                   "@nvtx.annotate()\n"
                   "def work(): time.sleep(0.01)\n"
                   "work()\n"
                   "id = nvtx.start_range('copy'); time.sleep(0.01); nvtx.end_range(id)\n"));
  auto rows = rows_of(bench({python, "-B", "frames.py"}));
  EXPECT_GE(rows["decode"], 20);
  for (const char* name : {"codec:encode", "work", "copy"}) EXPECT_GE(rows[name], 10) << name;
}

TEST_F(NvtxCommand, StagesThatAProgramMarksWinOverRanges) {
  jpeg("in.jpg");
  // A path is another program for bench, so it is asked for its ranges, too.
  Outcome outcome = run({"bench", "--runs", "2", "--no-store", "--", program(), "mask", "in.jpg"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("NVTX ranges were left out: the program marks its stages"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("Fuseline:")));
  outcome = run({"bench", "--runs", "2", "--no-store", "--", "mask", "in.jpg"});
  EXPECT_THAT(outcome.out, Not(HasSubstr("NVTX")));
}

TEST_F(NvtxCommand, AnotherToolStaysAttached) {
  Outcome outcome = run({"bench", "--runs", "2", "--no-store", "--", "sh", "-c",
                         "echo $NVTX_INJECTION64_PATH > told"},
                        "NVTX_INJECTION64_PATH=another.so");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("NVTX ranges went to another.so"));
  EXPECT_EQ(shell("cat told").out, "another.so\n");
  run({"bench", "--runs", "2", "--no-store", "--", "sh", "-c",
       "echo $NVTX_INJECTION64_PATH > told"});
  EXPECT_THAT(shell("cat told").out, HasSubstr("libfuseline_nvtx.so"));
}

TEST_F(NvtxCommand, OurStagesAndKernelsAreRangesForATool) {
  jpeg("in.jpg");
  std::string tool = "FUSELINE_STAGES=marks NVTX_INJECTION64_PATH=" + shell_word(reader());
  EXPECT_EQ(run({"mask", "in.jpg"}, tool).code, 0);
  std::vector<std::string> ranges = begins("marks", FUSELINE_RANGE_BEGIN);
  for (const char* stage : {"decode", "load kernels", "kernels", "encode"})
    EXPECT_THAT(ranges, testing::Contains("Fuseline:" + std::string(stage)));
  // Every kernel of the pipeline is a range under its name.
  nlohmann::json explained = run({"explain", "mask", "--json"}).json();
  ASSERT_FALSE(explained["kernels"].empty());
  for (const auto& kernel : explained["kernels"])
    EXPECT_THAT(ranges, testing::Contains("Fuseline:" + kernel["name"].get<std::string>()));
}

TEST_F(NvtxCommand, AToolThatCannotBeUsedIsToldAndChangesNothing) {
  jpeg("in.jpg");
  Outcome outcome = run({"mask", "in.jpg"}, "NVTX_INJECTION64_PATH=no/such/tool.so");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("NVTX_INJECTION64_PATH"));
  EXPECT_THAT(outcome.err, HasSubstr("no NVTX ranges are emitted"));
}

}  // namespace
}  // namespace fuseline::test
