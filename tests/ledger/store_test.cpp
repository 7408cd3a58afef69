// The ledger on disk: round trips, several writers, ended writers, and files that are not ours.
#include "ledger/store.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <thread>

#include "fuseline/error.hpp"
#include "ledger/report.hpp"
#include "ledger/stream.hpp"

namespace fuseline::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class Store : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "fuseline-ledger-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    file_ = folder_ / "sub" / "ledger.db";
  }
  void TearDown() override { fs::remove_all(folder_); }

  static const RunRecord& sample() {
    static const RunRecord record = measured(12, 10, 1);
    return record;
  }
  std::int64_t add(const std::string& name = "", const RunRecord& record = sample()) const {
    RunRecord copy = record;
    copy.name = name;
    return Ledger(file_, Ledger::Mode::write).add(copy, "FASTER");
  }
  void sql(const std::string& text) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(file_.c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database, text.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << message;
    sqlite3_close(database);
  }
  template <class Action>
  static std::string error_of(Action action) {
    try {
      action();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path folder_, file_;
};

TEST_F(Store, ARunComesBackAsItWas) {
  std::int64_t id = add("name");
  RunRecord back = Ledger(file_, Ledger::Mode::read).load(id);
  EXPECT_EQ(back.id, id);
  EXPECT_EQ(back.name, "name");
  EXPECT_EQ(back.sides[1].command, sample().sides[1].command);
  EXPECT_EQ(back.sides[0].series.wall, sample().sides[0].series.wall);
  EXPECT_EQ(back.sides[1].series.rows, sample().sides[1].series.rows);
  EXPECT_EQ(back.sides[1].series.busy, sample().sides[1].series.busy);
  EXPECT_EQ(back.sides[0].series.warm_up, sample().sides[0].series.warm_up);
  RunRecord named = sample();
  named.name = "name";
  EXPECT_EQ(report_text(back), report_text(named));
}

TEST_F(Store, ReadingWhatIsNotThereMakesNothing) {
  Ledger ledger(file_, Ledger::Mode::read);
  EXPECT_TRUE(ledger.list().empty());
  EXPECT_THAT(error_of([&] { ledger.find("last"); }), HasSubstr("the ledger is empty"));
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(Store, RunsAreFoundByNumberNameAndAge) {
  add("old");
  add("twice");
  add("twice");
  add();
  Ledger ledger(file_, Ledger::Mode::read);
  EXPECT_EQ(ledger.find("last"), 4);
  EXPECT_EQ(ledger.find("last~3"), 1);
  EXPECT_EQ(ledger.find("2"), 2);
  EXPECT_EQ(ledger.find("twice"), 3);
  for (const char* word : {"last~4", "5", "unknown", "last~x", "-1", ""})
    EXPECT_THROW(ledger.find(word), Error) << word;
  EXPECT_EQ(ledger.list(2).size(), 2u);
  EXPECT_EQ(ledger.list()[0].verdict, "FASTER");
  EXPECT_NEAR(ledger.list()[0].median_ms, 10, 1);
  EXPECT_THAT(ledger.same_series(4), ElementsAre(1, 2, 3, 4));
}

TEST_F(Store, PruneKeepsTheNewestAndTheNamed) {
  add("kept");
  for (int i = 0; i < 5; ++i) add();
  Ledger ledger(file_, Ledger::Mode::write);
  EXPECT_EQ(ledger.prune(2), 3u);
  EXPECT_THAT(ledger.same_series(1), ElementsAre(1, 5, 6));
  EXPECT_EQ(ledger.prune(2), 0u);
  ledger.load(6);
}

TEST_F(Store, SeveralWritersAtOnce) {
  constexpr int writers = 4, each = 6;
  std::vector<pid_t> children;
  for (int w = 0; w < writers; ++w) {
    pid_t child = ::fork();
    if (child == 0) {
      try {
        for (int i = 0; i < each; ++i) add("w" + std::to_string(w));
      } catch (...) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Ledger(file_, Ledger::Mode::read).list().size(), std::size_t{writers} * each);
}

// Every run that is there behind a kill is whole.
TEST_F(Store, AnEndedWriterLeavesWholeRunsOnly) {
  add();
  for (int round = 0; round < 8; ++round) {
    pid_t child = ::fork();
    if (child == 0) {
      for (;;) add();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(15 + 7 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  std::int64_t id = add("after");
  Ledger ledger(file_, Ledger::Mode::read);
  EXPECT_EQ(ledger.find("after"), id);
  for (const RunHead& head : ledger.list())
    EXPECT_EQ(ledger.load(head.id).sides[1].series.wall, sample().sides[1].series.wall);
}

TEST_F(Store, AnOlderVersionIsBroughtForward) {
  add("old");
  sql("DROP INDEX runs_by_name; DROP INDEX runs_by_command; PRAGMA user_version = 1;");
  EXPECT_EQ(Ledger(file_, Ledger::Mode::read).find("old"), 1);
  add("new");
  sql("DROP INDEX runs_by_name; DROP INDEX runs_by_command;");  // fails if they are not back
}

TEST_F(Store, ANewerVersionIsRefusedUntouched) {
  add();
  sql("PRAGMA user_version = 99;");
  for (auto mode : {Ledger::Mode::read, Ledger::Mode::write})
    EXPECT_THAT(
        error_of([&] { Ledger(file_, mode); }),
        testing::AllOf(HasSubstr("newer Fuseline"), HasSubstr("99"), HasSubstr("ledger.db")));
}

TEST_F(Store, ALockedLedgerIsOneLine) {
  add();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_THAT(error_of([&] { Ledger(file_, Ledger::Mode::write, 0.1).add(sample(), ""); }),
              HasSubstr("locked by another program"));
  sqlite3_close(other);
  add();
}

TEST_F(Store, AFullDiskIsOneLineAndLosesNothing) {
  add("kept");
  // A limit on the file's size stands for a disk that is full.
  pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{20000, 20000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::string text = error_of([&] { add("lost"); });
    ::_exit(text.find("ledger.db") != text.npos && text.find('\n') == text.npos ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  Ledger ledger(file_, Ledger::Mode::write);
  EXPECT_EQ(ledger.list().size(), 1u);
  EXPECT_EQ(ledger.find("kept"), 1);
  add();
}

TEST_F(Store, AFileThatIsNoLedger) {
  fs::create_directories(file_.parent_path());
  std::ofstream(file_) << std::string(5000, 'x');
  EXPECT_THAT(error_of([&] { Ledger(file_, Ledger::Mode::write); }), HasSubstr("not a ledger"));
}

TEST_F(Store, AFolderThatCannotBeMade) {
  std::ofstream(folder_ / "sub") << "a file";
  EXPECT_THAT(error_of([&] { add(); }), HasSubstr("folder cannot be made"));
}

TEST_F(Store, ANaNIsRefusedWhenItIsRead) {
  RunRecord record = sample();
  record.sides[0].series.wall[3] = std::numeric_limits<double>::quiet_NaN();
  std::int64_t id = add("", record);
  EXPECT_THAT(error_of([&] { Ledger(file_, Ledger::Mode::read).load(id); }), HasSubstr("NaN"));
}

TEST_F(Store, ADamagedEntryIsTold) {
  std::int64_t id = add();
  sql("UPDATE runs SET meta = '{\"name\": 1'");
  EXPECT_THAT(error_of([&] { Ledger(file_, Ledger::Mode::read).load(id); }), HasSubstr("damaged"));
  sql("UPDATE runs SET meta = '{\"name\": \"x\"}'");
  EXPECT_THAT(error_of([&] { Ledger(file_, Ledger::Mode::read).load(id); }),
              HasSubstr("not a run of this ledger"));
}

}  // namespace
}  // namespace fuseline::test
