// fuseline bench, compare and ledger as a user meets them.
#include <signal.h>
#include <spawn.h>

#include <chrono>
#include <set>
#include <thread>

#include "cli/support.hpp"

namespace fuseline::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

class BenchCommand : public CliTest {
 protected:
  Outcome fuseline(const Words& words, const std::string& environment = "") const {
    return run(words, "FUSELINE_LEDGER=" + shell_word(path("ledger.db")) + " " + environment);
  }
  // Two quick measurements with names.
  void fill() const {
    EXPECT_EQ(fuseline({"bench", "--runs", "10", "--name", "one", "--", "sleep", "0.02"}).code, 0);
    EXPECT_EQ(fuseline({"bench", "--runs", "10", "--name", "two", "--", "sleep", "0.04"}).code, 0);
  }
  void script(const std::string& name, const std::string& text) const {
    file(name, "#!/bin/sh\n" + text + "\n");
    std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
  }
  static void expect_fits(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  }
};

TEST_F(BenchCommand, MeasuresAnyProgram) {
  Outcome outcome = fuseline({"bench", "--runs", "12", "--", "sleep", "0.02"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  expect_fits(outcome.out);
  for (const char* part :
       {"sleep 0.02", "end to end", "unexplained", "cold run", "ledger      run 1"})
    EXPECT_THAT(outcome.out, HasSubstr(part));
  nlohmann::json json = fuseline({"bench", "--runs", "12", "--json", "--", "sleep", "0.02"}).json();
  EXPECT_EQ(json["sides"][0]["wall"]["n"], 12);
  EXPECT_GE(json["sides"][0]["wall"]["min"].get<double>(), 20);
  EXPECT_TRUE(json["sides"][0]["wall"]["p99"].is_null());
  EXPECT_TRUE(json["verdict"].is_null());
  EXPECT_EQ(json["id"], 2);
}

TEST_F(BenchCommand, FindsWhichSideIsFasterInBothDirections) {
  Words words = {"bench", "--runs",  "16",   "--gate", "--no-store", "--before",
                 "0.06",  "--after", "0.03", "--",     "sleep"};
  Outcome faster = fuseline(words);
  EXPECT_EQ(faster.code, 0) << faster.err;
  EXPECT_THAT(faster.out, testing::StartsWith("FASTER: end to end "));
  expect_fits(faster.out);
  std::swap(words[6], words[8]);
  Outcome slower = fuseline(words);
  EXPECT_EQ(slower.code, 1);
  EXPECT_THAT(slower.out, testing::StartsWith("SLOWER: end to end 0."));
  EXPECT_FALSE(std::filesystem::exists(path("ledger.db")));
}

TEST_F(BenchCommand, AGateThatCannotBeDecidedIsFour) {
  Outcome outcome = fuseline({"bench", "--runs", "4", "--gate", "--no-store", "--json", "--before",
                              "0.01", "--after", "0.03", "--", "sleep"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(outcome.json()["verdict"], "INCONCLUSIVE");
}

TEST_F(BenchCommand, AFuselineCommandShowsItsStages) {
  jpeg("in.jpg", 300, 400);
  nlohmann::json json =
      fuseline({"bench", "--runs", "5", "--json", "--", "mask", "in.jpg", "-o", "out.png"}).json();
  std::map<std::string, double> rows;
  double share = 0;
  for (const auto& row : json["sides"][0]["rows"]) {
    rows[row["name"]] = row["median"];
    share += row["mean"].get<double>();
  }
  for (const char* name : {"kernels", "encode", "unexplained"}) EXPECT_TRUE(rows.contains(name));
  EXPECT_NEAR(share, json["sides"][0]["wall"]["mean"].get<double>(), 1e-6);
  EXPECT_GT(json["sides"][0]["busy_ms"]["decode"].get<double>(), 0);
  EXPECT_EQ(json["sides"][0]["command"][0], "fuseline");
}

TEST_F(BenchCommand, MemoryClocksAndTheNullRunAreTold) {
  jpeg("in.jpg", 300, 400);
  Words words = {"bench", "--runs", "5", "--json", "--", "mask", "in.jpg", "-o", "out.png"};
  nlohmann::json json = fuseline(words).json();
  const auto& resources = json["sides"][0]["resources"];
  EXPECT_GT(resources["rss_start"].get<double>(), 0);
  // The system counts pages by processor and sums up now and then.
  EXPECT_GE(resources["peak"].get<double>(), 0.8 * resources["rss_end"].get<double>());
  EXPECT_GE(resources["rss_end"].get<double>(), resources["rss_start"].get<double>());
  EXPECT_EQ(json["clocks"][0]["name"], "CPU");
  EXPECT_NE(json["clocks"][0]["mhz"].empty(), json["clocks"][0]["why_not"].is_null());
  const auto& null = json["null_kernels"];
  ASSERT_TRUE(null["ceiling"].is_object()) << null.dump();
  EXPECT_TRUE(null["why_not"].is_null());
  EXPECT_GT(null["ceiling"]["value"].get<double>(), 0.5);
  EXPECT_LE(null["ceiling"]["low"].get<double>(), null["ceiling"]["high"].get<double>());
  Outcome shown = fuseline({"ledger", "show", "last"});
  expect_fits(shown.out);
  for (const char* part : {"memory      ", "at the start", "before the end", "clocks      CPU",
                           "null run    ", "with kernels that do nothing"})
    EXPECT_THAT(shown.out, HasSubstr(part));
  // Kernels of others have no null form, and nothing is said of them.
  json = fuseline({"bench", "--runs", "3", "--json", "--", "true"}).json();
  EXPECT_TRUE(json["null_kernels"]["ceiling"].is_null());
  EXPECT_THAT(json["null_kernels"]["why_not"].get<std::string>(), HasSubstr("only for `mask"));
  EXPECT_THAT(fuseline({"ledger", "show", "last"}).out, Not(HasSubstr("null run")));
}

TEST_F(BenchCommand, AChromeTraceOfTheTypicalRun) {
  jpeg("in.jpg");
  expect_one_line(fuseline({"ledger", "export", "--chrome-trace", "t.json"}).err, "is empty");
  EXPECT_EQ(fuseline({"bench", "--runs", "3", "--", "mask", "in.jpg"}).code, 0);
  Outcome outcome = fuseline({"ledger", "export", "last", "--chrome-trace", "t.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("run 1 -> t.json"));
  Bytes bytes = bytes_of(path("t.json"));
  nlohmann::json trace = nlohmann::json::parse(bytes.begin(), bytes.end());
  std::set<std::string> names;
  for (const auto& event : trace["traceEvents"])
    if (event["ph"] == "X") names.insert(event["name"]);
  for (const char* name : {"run", "decode", "load kernels", "kernels", "encode"})
    EXPECT_TRUE(names.contains(name)) << name;
  fuseline({"bench", "--runs", "3", "--", "true"});
  expect_one_line(fuseline({"ledger", "export", "1", "2", "--chrome-trace", "t.json"}).err,
                  "writes one run; 2 were named");
}

TEST_F(BenchCommand, AFrameOfALoopIsARun) {
  if (shell("python3 -c pass").code != 0) GTEST_SKIP() << "there is no python3";
  file("frames.py",
       std::string("import sys, time\nsys.path.insert(0, '" FUSELINE_SOURCE_DIR "/python')\n"
                   "from fuseline_stage import stage\n"
                   "time.sleep(0.1)\n"
                   "for i in range(5):\n"
                   "  with stage('frame'):\n"
                   "    with stage('decode'): time.sleep(0.02)\n"
                   "    time.sleep(0.005)\n"));
  nlohmann::json side = fuseline({"bench", "--runs", "3", "--per", "frame", "--json", "--",
                                  "python3", "-B", "frames.py"})
                            .json()["sides"][0];
  EXPECT_GE(side["wall"]["min"].get<double>(), 25);
  EXPECT_LT(side["wall"]["min"].get<double>(), 90);
  ASSERT_EQ(side["rows"].size(), 2u);
  EXPECT_EQ(side["rows"][0]["name"], "decode");
  expect_one_line(fuseline({"bench", "--per", "frame", "--", "true"}).err,
                  "marks no stage \"frame\"");
}

TEST_F(BenchCommand, ACommandThatFailsIsNotMeasured) {
  script("fails", "echo broken pipe dream >&2; exit 3");
  Outcome outcome = fuseline({"bench", "--", "./fails"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  expect_one_line(outcome.err, "failed with exit code 3, saying \"broken pipe dream\"");
  // Good eleven times, then not.
  script("sometimes", "echo x >> runs; [ $(wc -l < runs) -lt 12 ]");
  outcome = fuseline({"bench", "--", "./sometimes"});
  EXPECT_EQ(outcome.code, 2);
  expect_one_line(outcome.err, "failed with exit code 1; nothing was measured");
  expect_one_line(fuseline({"bench", "--", "./missing"}).err, "./missing: cannot be started");
  EXPECT_EQ(fuseline({"ledger", "list", "--json"}).json(), nlohmann::json::array());
}

TEST_F(BenchCommand, ACommandThatHangsIsEnded) {
  Outcome outcome = fuseline({"bench", "--timeout", "0.3", "--", "sleep", "60"});
  EXPECT_EQ(outcome.code, 2);
  expect_one_line(outcome.err, "still running after 0.3 s");
}

TEST_F(BenchCommand, AChangedOutputIsTold) {
  script("changes", "date +%N");
  Outcome outcome = fuseline({"bench", "--runs", "3", "--", "./changes"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("runs wrote another output than the first"));
  outcome = fuseline({"bench", "--runs", "3", "--same-output", "--", "./changes"});
  EXPECT_EQ(outcome.code, 2);
  expect_one_line(outcome.err, "wrote another output than the first");
  outcome = fuseline({"bench", "--runs", "4", "--before", "a", "--after", "b", "--", "echo"});
  EXPECT_THAT(outcome.out, HasSubstr("before and after write different outputs"));
}

TEST_F(BenchCommand, TargetItemsAndLoad) {
  nlohmann::json json = fuseline({"bench", "--runs", "10", "--target", "1ms", "--items", "500",
                                  "--json", "--", "sleep", "0.01"})
                            .json();
  EXPECT_EQ(json["deadline"]["met"], false);
  EXPECT_GE(json["projection"]["total_ms"][0].get<double>(), 5000);
  EXPECT_EQ(
      fuseline({"bench", "--runs", "10", "--target", "1ms", "--gate", "--", "sleep", "0.01"}).code,
      1);
  json = fuseline(
             {"bench", "--rate", "fixed:100", "--seconds", "0.4", "--json", "--", "sleep", "0.03"})
             .json();
  // One every 10 ms, each takes 30: the last ones are late by half a second and more.
  EXPECT_GT(json["sides"][0]["latency"]["max"].get<double>(),
            5 * json["sides"][0]["wall"]["max"].get<double>());
}

TEST_F(BenchCommand, MistakesAreOneLineEach) {
  struct Case {
    Words words;
    std::string part;
  };
  const Case cases[] = {
      {{"bench"}, "name a command behind --"},
      {{"bench", "--before", "x", "--", "sleep"}, "--before and --after go together"},
      {{"bench", "--before", "'x", "--after", "y", "--", "sleep"}, "a quote (') is not closed"},
      {{"bench", "--runs", "0", "--", "true"}, "--runs"},
      {{"bench", "--seconds", "soon", "--", "true"}, "--seconds"},
      {{"bench", "--target", "33parsecs", "--", "true"}, "is not a time such as 33ms"},
      {{"bench", "--rate", "poison:3", "--", "true"}, "did you mean poisson?"},
      {{"bench", "--rate", "fixed", "--", "true"}, "say how many a second"},
      {{"bench", "--gate", "--", "true"}, "--gate needs"},
      {{"bench", "--name", "12", "--", "true"}, "--name"},
      {{"bench", "--name", "last", "--", "true"}, "--name"},
      {{"bench", "--treshold", "3", "--", "true"}, "did you mean --threshold?"},
      {{"compare"}, "name two runs"},
      {{"compare", "last"}, "1 were named"},
      {{"compare", "last", "last~1"}, "the ledger is empty"},
      {{"ledger"}, "ledger: say what to do"},
      {{"ledger", "lst"}, "did you mean list?"},
      {{"ledger", "show", "nothing"}, "the ledger is empty"},
      {{"ledger", "prune", "--keep", "-1"}, "--keep"},
  };
  for (const Case& bad : cases) {
    SCOPED_TRACE(testing::PrintToString(bad.words));
    Outcome outcome = fuseline(bad.words);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    expect_one_line(outcome.err, bad.part);
  }
}

TEST_F(BenchCommand, TheLedgerListsShowsComparesAndExports) {
  EXPECT_THAT(fuseline({"ledger", "list"}).out, HasSubstr("The ledger is empty"));
  fill();
  nlohmann::json list = fuseline({"ledger", "list", "--json"}).json();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["name"], "two");
  EXPECT_THAT(fuseline({"ledger", "list", "-n", "1"}).out, Not(HasSubstr("one:")));
  EXPECT_THAT(fuseline({"ledger", "show", "one"}).out, HasSubstr("sleep 0.02"));
  EXPECT_EQ(fuseline({"ledger", "show", "last~1", "--json"}).json()["name"], "one");
  EXPECT_EQ(fuseline({"ledger", "history", "one", "--json"}).json()["runs"].size(), 1u);
  EXPECT_EQ(fuseline({"ledger", "export", "two", "-o", "two.json"}).code, 0);
  nlohmann::json all = fuseline({"ledger", "export"}).json();
  EXPECT_EQ(all["runs"].size(), 2u);
  EXPECT_FALSE(all["runs"][0]["columns"].empty());
  Outcome slower = fuseline({"compare", "one", "two", "--gate"});
  EXPECT_EQ(slower.code, 1);
  EXPECT_THAT(slower.out, testing::StartsWith("SLOWER: end to end 0."));
  expect_fits(slower.out);
  EXPECT_EQ(fuseline({"compare", "2", "1", "--json"}).json()["verdict"], "FASTER");
  expect_one_line(fuseline({"compare", "one", "tow"}).err, "did you mean two?");
  EXPECT_EQ(fuseline({"ledger", "prune", "--keep", "0", "--json"}).json()["removed"], 0);
}

TEST_F(BenchCommand, ThePageNeedsNothingElse) {
  fill();
  Outcome outcome = fuseline({"ledger", "show", "last", "--html", "page.html"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  Bytes bytes = bytes_of(path("page.html"));
  std::string page(bytes.begin(), bytes.end());
  EXPECT_THAT(page, testing::StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  expect_one_line(fuseline({"ledger", "show", "last", "--html", "no/such/folder.html"}).err,
                  "no/such/folder.html: cannot be written");
}

// A browser without a network shows every card in its width, and the data can be read back.
TEST_F(BenchCommand, ThePageInABrowser) {
  if (shell("command -v chromium").code != 0) GTEST_SKIP() << "there is no chromium";
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(
        fuseline({"bench", "--runs", "12", "--before", "0.01", "--after", "0.02", "--", "sleep"})
            .code,
        0);
  EXPECT_EQ(fuseline({"ledger", "show", "last", "--html", "page.html"}).code, 0);
  Bytes bytes = bytes_of(path("page.html"));
  std::string page(bytes.begin(), bytes.end());
  std::size_t end = page.rfind("</body>");
  ASSERT_NE(end, page.npos);
  page.insert(end,
              "<script>"
              "var wide = [...document.querySelectorAll('main *')].filter("
              "e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display != 'inline');"
              "var data = JSON.parse(document.getElementById('data').textContent);"
              "document.body.dataset.seen = [document.querySelectorAll('.card').length,"
              "wide.length, data.verdict].join(' ');"
              // What the button would save.
              "URL.createObjectURL = blob => { blob.text().then(text => {"
              "document.body.dataset.trace = JSON.parse(text).traceEvents.filter("
              "e => e.name == 'run').length; }); return 'data:,'; };"
              "document.getElementById('keep-trace').click();</script>");
  file("seen.html", page);
  Outcome dom = shell(
      "timeout 60 chromium --headless --no-sandbox --disable-gpu --dump-dom "
      "--virtual-time-budget=5000 --window-size=1100,900 --user-data-dir=profile "
      "\"file://$PWD/seen.html\"");
  EXPECT_EQ(dom.code, 0) << dom.err;
  EXPECT_THAT(dom.out, HasSubstr("data-seen=\"7 0 SLOWER\""));
  EXPECT_THAT(dom.out, HasSubstr("data-trace=\"2\""));
}

TEST_F(BenchCommand, AReportSurvivesALedgerThatCannotBeWritten) {
  std::filesystem::create_directory(path("ledger.db"));
  Outcome outcome = fuseline({"bench", "--runs", "3", "--", "true"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.out, HasSubstr("end to end"));
  expect_one_line(outcome.err, "ledger.db");
  EXPECT_EQ(run({"bench", "--runs", "3", "--", "true"}, "FUSELINE_LEDGER=off").code, 0);
  expect_one_line(run({"ledger", "list"}, "FUSELINE_LEDGER=off").err, "the ledger is off");
}

TEST_F(BenchCommand, CtrlCEndsTheCommandToo) {
  script("long", "echo $$ > child; exec sleep 60");
  Words words = {program(), "bench", "--no-store", "--", path("long")};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t child = -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, path(".").c_str());
  ASSERT_EQ(posix_spawn(&child, pointers[0], &actions, nullptr, pointers.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  for (int i = 0; i < 2000 && bytes_of(path("child")).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  Bytes bytes = bytes_of(path("child"));
  pid_t measured = std::stoi(std::string(bytes.begin(), bytes.end()));
  ::kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_NE(::kill(measured, 0), 0) << "the measured command still runs";
}

}  // namespace
}  // namespace fuseline::test
