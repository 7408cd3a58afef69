// The record of the machine: what it must hold, and what it must not.
#include "ledger/environment.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace fuseline {
namespace {

using testing::HasSubstr;

TEST(Environment, KnowsThisMachine) {
  Json record = read_environment();
  for (const char* part : {"hardware", "software", "source", "conditions"})
    EXPECT_TRUE(record[part].is_object()) << part;
  EXPECT_GE(record["hardware"]["processors"].get<int>(), 1);
  EXPECT_GT(record["hardware"]["memory_bytes"].get<double>(), 1e6);
  EXPECT_TRUE(record["conditions"]["load"].is_number());
  EXPECT_TRUE(record["software"]["kernel"].is_string());
}

TEST(Environment, HoldsNoVariables) {
  ::setenv("FUSELINE_TEST_SECRET", "a-word-that-is-nowhere-else", 1);
  std::string text = json_text(read_environment());
  ::unsetenv("FUSELINE_TEST_SECRET");
  EXPECT_THAT(text, testing::Not(HasSubstr("a-word-that-is-nowhere-else")));
}

TEST(Environment, NotMeasuredIsNeverZero) {
  EXPECT_EQ(value_text(nullptr), "not measured");
  EXPECT_EQ(value_text(0), "0");
  Json empty = {{"conditions", {{"gpus", {{{"name", "G"}}}}}}};
  std::string all;
  for (const std::string& line : environment_lines(empty)) all += line + "\n";
  EXPECT_THAT(all, HasSubstr("SM not measured, not measured, not measured"));
  EXPECT_THAT(all, HasSubstr("other processes: not measured"));
  EXPECT_THAT(all, testing::Not(testing::ContainsRegex("[ :]0[ ,\n]")));
}

TEST(Environment, LinesFitTheTerminal) {
  Json record = read_environment();
  record["hardware"]["cpu"] = std::string(150, 'x') + " " + std::string(30, 'y');
  record["during"] = ConditionsWatch().finish();
  for (const std::string& line : environment_lines(record)) {
    std::istringstream parts(line);
    for (std::string part; std::getline(parts, part);)
      if (part.find("xxx") == part.npos) {
        EXPECT_LE(part.size(), 80u) << part;
      }
  }
}

TEST(Environment, OnlyHardwareForbidsToCompare) {
  Json a = {{"hardware", {{"cpu", "A"}, {"processors", 4}, {"gpus", {"G"}}}},
            {"software", {{"driver", "1"}}},
            {"source", {{"commit", "x"}}}};
  Json b = a;
  b["software"]["driver"] = "2";
  b["source"]["commit"] = "y";
  EXPECT_TRUE(different_hardware(a, b).empty());
  b["hardware"]["gpus"] = {"H"};
  b["hardware"]["processors"] = 8;
  EXPECT_THAT(different_hardware(a, b),
              testing::ElementsAre("processors: 4 against 8", "gpus: G against H"));
}

TEST(Environment, SharesOfTheWatchLieBetweenZeroAndOne) {
  ConditionsWatch watch;
  Json during = watch.finish();
  for (const char* key : {"steal", "throttled", "cgroup_throttled_us"})
    EXPECT_TRUE(during.contains(key)) << key;
  if (during["steal"].is_number()) {
    EXPECT_GE(during["steal"].get<double>(), 0);
    EXPECT_LE(during["steal"].get<double>(), 1);
  }
}

}  // namespace
}  // namespace fuseline
