// fuseline bench --after K.cu: checked first, timed only on a GPU.
#include "cli/kernel_text.hpp"
#include "cli/support.hpp"

namespace fuseline::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class BenchKernel : public CliTest {
 protected:
  Outcome bench(const std::vector<std::string>& options,
                const std::vector<std::string>& command = {"mask", "in.jpg", "-o",
                                                           "out.png"}) const {
    jpeg("in.jpg", 120, 160);
    std::vector<std::string> words = {"bench", "--no-store", "--runs", "12"};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return run(words);
  }
  void kernel(const std::string& name, const std::string& text) const {
    file(name, Bytes(text.begin(), text.end()));
  }
};

TEST_F(BenchKernel, OneThatKeepsTheContractIsTimedOnAGpuOnly) {
  kernel("k.cu", right_kernel);
  Outcome outcome = bench({"--after", "k.cu"});
  if (outcome.code == 3) {
    EXPECT_THAT(outcome.out, HasSubstr("PASSED"));
    EXPECT_THAT(outcome.out, Not(HasSubstr("end to end")));
    expect_one_line(outcome.err, "keeps the contract on the host simulator, but timing it needs");
    return;
  }
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* part : {"kernels", "upload", "download", "end to end", "kernel only",
                           "k.cu keeps the contract", "our kernel"})
    EXPECT_THAT(outcome.out, HasSubstr(part));
  EXPECT_THAT(outcome.out, Not(HasSubstr("different outputs")));
  nlohmann::json json = bench({"--after", "k.cu", "--json"}).json();
  for (const auto& side : json["sides"])
    EXPECT_GT(side["resources"]["kernel_alone"].get<double>(), 0);
  // Of two kernels that somebody wrote.
  kernel("other.cu", replaced(right_kernel, "threads=128", "threads=256"));
  EXPECT_EQ(bench({"--before", "other.cu", "--after", "k.cu"}).code, 0);
}

TEST_F(BenchKernel, OneThatBreaksItIsReportedAndNotMeasured) {
  kernel("wrong.cu", replaced(right_kernel, "gray > 127 ?", "gray >= 127 ?"));
  kernel("right.cu", right_kernel);
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--after", "wrong.cu"},
        {"--before", "wrong.cu", "--after", "right.cu"}}) {
    Outcome outcome = bench(options);
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("FAILED"));
    EXPECT_THAT(outcome.out, HasSubstr("expected 0, got 255"));
    EXPECT_THAT(outcome.out, Not(HasSubstr("end to end")));
  }
  // The contract is that of the measured pipeline.
  EXPECT_EQ(bench({"--after", "right.cu"}, {"mask", "in.jpg", "--threshold", "60"}).code, 1);
  nlohmann::json json = bench({"--after", "wrong.cu", "--json"}).json();
  EXPECT_EQ(json["passed"], false);
}

TEST_F(BenchKernel, MistakesAreOneLineEach) {
  kernel("k.cu", right_kernel);
  auto refused = [&](const std::vector<std::string>& options,
                     const std::vector<std::string>& command, const std::string& part) {
    Outcome outcome = bench(options, command);
    EXPECT_EQ(outcome.code, 2) << part;
    EXPECT_EQ(outcome.out, "");
    expect_one_line(outcome.err, part);
  };
  refused({"--after", "k.cu"}, {"sleep", "0.1"}, "add -- mask PICTURE");
  refused({"--after", "k.cu"}, {"mask", "missing.jpg"}, "one picture");
  refused({"--after", "k.cu"}, {"mask", "in.jpg", "--device", "cpu"}, "leave out --device cpu");
  refused({"--after", "missing.cu"}, {"mask", "in.jpg"}, "missing.cu cannot be read");
  refused({"--before", "--fusion off", "--after", "k.cu"}, {"mask", "in.jpg"},
          "--before names another K.cu");
  refused({"--after", "k.cu", "--per", "kernels"}, {"mask", "in.jpg"},
          "leave out --rate and --per");
}

}  // namespace
}  // namespace fuseline::test
