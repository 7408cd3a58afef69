// The command line itself: help, version, misspellings, and the commands beside mask.
#include "cli/support.hpp"

namespace fuseline::test {
namespace {

using testing::HasSubstr;

using Usage = CliTest;

TEST_F(Usage, VersionAndHelp) {
  Outcome version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, testing::MatchesRegex("fuseline [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--help"},
                                                {"mask", "--help"},
                                                {"info", "-h"},
                                                {"explain", "mask", "--help"},
                                                {"cache", "--help"}}) {
    Outcome help = run(words);
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("Examples:"));
    EXPECT_EQ(help.err, "");
  }
}

TEST_F(Usage, Misspellings) {
  struct Case {
    std::vector<std::string> words;
    std::string part;
  };
  const Case cases[] = {
      {{}, "name a command"},
      {{"maks", "x.png"}, "unknown command \"maks\"; did you mean mask?"},
      {{"zzzzzzzz"}, "unknown command \"zzzzzzzz\" (`fuseline --help` lists them)"},
      {{"mask", "x.png", "--treshold", "3"},
       "unknown option --treshold; did you mean --threshold?"},
      {{"mask", "x.png", "--threhsold=3"}, "unknown option --threhsold; did you mean --threshold?"},
      {{"mask", "x.png", "--qqqqqqqqqq"}, "unknown option --qqqqqqqqqq ("},
      {{"--jsom"}, "unknown option --jsom"},
      {{"cache"}, "cache: say what to do"},
      {{"cache", "stat"}, "did you mean stats?"},
      {{"cache", "clear", "now"}, "\"now\" was not expected"},
      {{"explain"}, "explain: name the command"},
      {{"explain", "masc"}, "did you mean mask?"},
      {{"mask"}, "mask: name at least one picture or folder"},
  };
  for (const Case& bad : cases) {
    SCOPED_TRACE(testing::PrintToString(bad.words));
    Outcome outcome = run(bad.words);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    expect_one_line(outcome.err, bad.part);
  }
}

TEST_F(Usage, InfoKnowsTheMachine) {
  Outcome outcome = run({"info", "--json"}, "FUSELINE_NUM_THREADS=3");
  EXPECT_EQ(outcome.code, 0);
  nlohmann::json info = outcome.json();
  EXPECT_EQ(info["cpu"]["threads"], 3);
  EXPECT_EQ(info["environment"]["FUSELINE_NUM_THREADS"], "3");
  EXPECT_EQ(info["devices"][0]["name"], "cpu");
  EXPECT_EQ(info["devices"][0]["available"], true);
  EXPECT_EQ(info["devices"][1]["name"], "cuda");
  EXPECT_NE(info["devices"][1]["detail"], "");
  EXPECT_THAT(info["cache"]["folder"].get<std::string>(), testing::EndsWith("cli-cache"));
  EXPECT_THAT(run({"info"}).out, HasSubstr("llvm"));
}

TEST_F(Usage, BadEnvironmentIsTold) {
  png("in.png");
  for (const char* setting :
       {"FUSELINE_NUM_THREADS=none", "FUSELINE_CACHE=maybe", "FUSELINE_CACHE_BYTES=lots"}) {
    SCOPED_TRACE(setting);
    Outcome outcome = run({"mask", "in.png", "--area-only"}, setting);
    EXPECT_NE(outcome.code, 0);
    EXPECT_NE(outcome.code, 70);
    std::string name = setting;
    expect_one_line(outcome.err, name.substr(0, name.find('=')));
  }
}

TEST_F(Usage, ExplainTellsPlansReasonsAndCode) {
  Outcome plain = run({"explain", "mask"});
  EXPECT_EQ(plain.code, 0) << plain.err;
  for (const char* part : {"1 Region, one kernel each", "operations", "plan", "border", "code"})
    EXPECT_THAT(plain.out, HasSubstr(part));
  EXPECT_THAT(plain.out, testing::Not(HasSubstr("CUDA C")));
  Outcome kernels = run({"explain", "mask", "--kernels", "--channels", "4"});
  for (const char* part : {"Loop IR", "define ", "__global__"})
    EXPECT_THAT(kernels.out, HasSubstr(part));
  nlohmann::json unfused = run({"explain", "mask", "--fusion", "off", "--json"}).json();
  EXPECT_GT(unfused["kernels"].size(), 2u);
  // The second time everything comes from the cache.
  nlohmann::json again = run({"explain", "mask", "--json"}).json();
  ASSERT_EQ(again["kernels"].size(), 1u);
  EXPECT_EQ(again["kernels"][0]["cache_hit"], true);
}

TEST_F(Usage, CacheIsCountedAndCleared) {
  png("in.png");
  std::string own = "FUSELINE_CACHE_DIR=" + shell_word(path("own"));
  EXPECT_EQ(run({"cache", "stats", "--json"}, own).json()["entries"], 0);
  EXPECT_EQ(run({"mask", "in.png", "--area-only"}, own).code, 0);
  nlohmann::json stats = run({"cache", "stats", "--json"}, own).json();
  EXPECT_GE(stats["entries"].get<int>(), 1);
  EXPECT_EQ(stats["folder"], path("own").string());
  EXPECT_THAT(run({"cache", "stats"}, own).out, HasSubstr("entr"));
  EXPECT_EQ(run({"cache", "clear", "--json"}, own).json()["freed"], stats["bytes"]);
  EXPECT_EQ(run({"cache", "stats", "--json"}, own).json()["entries"], 0);
  EXPECT_THAT(run({"cache", "stats"}, own + " FUSELINE_CACHE=off").out, HasSubstr("off"));
}

}  // namespace
}  // namespace fuseline::test
