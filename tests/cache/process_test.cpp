// Several processes on one folder, and processes killed at any moment.
#include <gtest/gtest.h>
#include <signal.h>

#include <random>

#include "cache/key_lock.hpp"
#include "cache/support.hpp"

namespace fuseline::cache {
namespace {

using Clock = std::chrono::steady_clock;

const Key key{"kernel"};

// Counts over processes: one byte appended for each call.
class CallCount {
 public:
  explicit CallCount(fs::path path) : path_(std::move(path)) {}
  void add() const {
    int fd = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (::write(fd, "x", 1) != 1) std::abort();
    ::close(fd);
  }
  std::uintmax_t value() const { return fs::exists(path_) ? fs::file_size(path_) : 0; }

 private:
  fs::path path_;
};

void wait_until_made(const CallCount& calls, std::uintmax_t count) {
  while (calls.value() < count) pause_ms(1);
}

TEST(Process, many_processes_make_each_key_once) {
  TestFolder folder, other;
  CallCount calls(other.path / "calls");
  constexpr int keys = 10;
  std::vector<pid_t> children;
  for (int p = 0; p < 4; ++p)
    children.push_back(start_child([&] {
      Store store(folder.path, mega);
      for (int i = 0; i < keys; ++i) {
        Bytes want = pattern(4000, static_cast<std::uint64_t>(i));
        Result result = store.get_or_make(Key{std::to_string(i)}, [&] {
          calls.add();
          pause_ms(10);
          return want;
        });
        if (result.payload != want) return 1;
      }
      return 0;
    }));
  for (pid_t child : children) EXPECT_EQ(exit_code(child), 0);
  EXPECT_EQ(calls.value(), keys);
  EXPECT_EQ(folder.files(), keys) << "no lock files are left";
}

TEST(Process, killed_while_it_makes_the_next_one_makes) {
  for (int round = 0; round < 5; ++round) {
    TestFolder folder, other;
    CallCount calls(other.path / "calls");
    pid_t victim = start_child([&] {
      Store(folder.path, mega).get_or_make(key, [&] {
        calls.add();
        for (;;) pause_ms(1000);
        return Bytes{};
      });
      return 1;
    });
    wait_until_made(calls, 1);
    pid_t waiter = start_child([&] {
      Store store(folder.path, mega);
      Result result = store.get_or_make(key, [&] {
        calls.add();
        return pattern(100, 1);
      });
      return result.payload == pattern(100, 1) && !result.hit ? 0 : 1;
    });
    pause_ms(20);
    EXPECT_EQ(calls.value(), 1u) << "the waiter does not make while the victim lives";
    Clock::time_point killed = Clock::now();
    ::kill(victim, SIGKILL);
    EXPECT_EQ(exit_code(victim), -SIGKILL);
    EXPECT_EQ(exit_code(waiter), 0);
    EXPECT_LT(Clock::now() - killed, std::chrono::seconds(5));
    EXPECT_EQ(calls.value(), 2u);
    EXPECT_EQ(folder.files(), 1u);
  }
}

TEST(Process, the_lock_file_of_a_killed_process_does_not_stop_anybody) {
  TestFolder folder, other;
  CallCount calls(other.path / "calls");
  pid_t victim = start_child([&] {
    Store(folder.path, mega).get_or_make(key, [&] {
      calls.add();
      for (;;) pause_ms(1000);
      return Bytes{};
    });
    return 1;
  });
  wait_until_made(calls, 1);
  ::kill(victim, SIGKILL);
  exit_code(victim);
  EXPECT_TRUE(fs::exists(folder.lock(key)));
  Store store(folder.path, mega);
  EXPECT_FALSE(store.get_or_make(key, [] { return pattern(9, 1); }).hit);
  EXPECT_FALSE(fs::exists(folder.lock(key)));
}

// A child forked while its parent holds a lock has a copy of the descriptor. The child of another
// process waits on the same lock file meanwhile.
TEST(Process, a_forked_child_does_not_keep_the_lock) {
  TestFolder folder;
  std::optional<KeyLock> lock(std::in_place, folder.lock(key), std::chrono::seconds(1));
  ASSERT_TRUE(lock->held());
  pid_t bystander = start_child([] {
    for (;;) pause_ms(1000);
    return 0;
  });
  pid_t waiter = start_child(
      [&] { return KeyLock(folder.lock(key), std::chrono::seconds(5)).held() ? 0 : 1; });
  pause_ms(50);
  lock.reset();
  EXPECT_EQ(exit_code(waiter), 0);
  ::kill(bystander, SIGKILL);
  exit_code(bystander);
}

// Publishes two contents for one key in turn until it is killed.
int publish_for_ever(const fs::path& folder, const Bytes (&contents)[2], const CallCount& ready) {
  Store store(folder, 64 * mega);
  ready.add();
  for (unsigned i = 0;; ++i) store.publish(key, contents[i % 2]);
  return 0;
}

TEST(Process, killed_while_it_publishes_leaves_no_wrong_entry) {
  TestFolder folder, other;
  CallCount ready(other.path / "ready");
  std::mt19937 random(20240517);
  const Bytes contents[2] = {pattern(mega, 1), pattern(mega, 2)};
  for (unsigned round = 0; round < 60; ++round) {
    bool there_before = fs::exists(folder.entry(key));
    pid_t child = start_child([&] { return publish_for_ever(folder.path, contents, ready); });
    wait_until_made(ready, round + 1);
    timespec moment{0, static_cast<long>(random() % 10000000)};
    ::nanosleep(&moment, nullptr);
    ::kill(child, SIGKILL);
    ASSERT_EQ(exit_code(child), -SIGKILL);
    Store store(folder.path, 64 * mega);
    auto loaded = store.load(key);
    ASSERT_TRUE(loaded || !there_before) << "an entry never goes while it is replaced";
    ASSERT_TRUE(!loaded || *loaded == contents[0] || *loaded == contents[1]);
    ASSERT_EQ(store.stats().rejected, 0u);
    if (round % 4 == 3) fs::remove(folder.entry(key));
    if (round % 4 == 0) store.publish(key, contents[0]);
  }

  std::size_t leftovers = folder.files() - fs::exists(folder.entry(key));
  RecordProperty("temporaries_left_by_killed_processes", static_cast<int>(leftovers));
  for (const auto& file : fs::directory_iterator(folder.path)) set_age(file.path(), 4000);
  Store(folder.path, 64 * mega).publish(key, contents[0]);
  EXPECT_EQ(folder.files(), 1u) << "the sweep removes them";
}

TEST(Process, readers_see_whole_entries_while_others_publish_and_sweep) {
  TestFolder folder;
  std::vector<pid_t> writers;
  for (int p = 0; p < 2; ++p)
    writers.push_back(start_child([&, p] {
      Store store(folder.path, 40000);  // small: it sweeps all the time
      for (unsigned i = 0;; ++i) {
        unsigned k = (i * 5 + static_cast<unsigned>(p)) % 13;
        store.publish(Key{std::to_string(k)}, pattern(5000, k));
      }
      return 0;
    }));
  Store store(folder.path, 40000);
  int found = 0;
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(60);
  for (unsigned i = 0; found < 2000 && Clock::now() < deadline; ++i) {
    auto loaded = store.load(Key{std::to_string(i % 13)});
    if (!loaded) continue;
    ++found;
    ASSERT_EQ(*loaded, pattern(5000, i % 13));
  }
  for (pid_t writer : writers) {
    ::kill(writer, SIGKILL);
    exit_code(writer);
  }
  EXPECT_EQ(found, 2000);
  EXPECT_EQ(store.stats().rejected, 0u);
}

}  // namespace
}  // namespace fuseline::cache
