// The byte budget: least used first, down to 90 %, never what was just written.
#include <gtest/gtest.h>
#include <sys/file.h>

#include <list>

#include "cache/support.hpp"

namespace fuseline::cache {
namespace {

constexpr std::size_t entry_bytes = 1000;

Key numbered(int i) { return {"key " + std::to_string(100 + i)}; }
Bytes sized_payload(int i) {
  return pattern(entry_bytes - sizeof(EntryHeader) - numbered(i).text.size(),
                 static_cast<std::uint64_t>(i));
}
// Key 0 is the oldest.
void publish_aged(const TestFolder& folder, int count) {
  Store store(folder.path, mega);
  for (int i = 0; i < count; ++i) {
    store.publish(numbered(i), sized_payload(i));
    set_age(folder.entry(numbered(i)), 7200 - 60 * i);
  }
}

TEST(Sweep, removes_the_least_used_down_to_nine_tenths) {
  TestFolder folder;
  publish_aged(folder, 10);
  Store store(folder.path, 10 * entry_bytes);
  EXPECT_EQ(store.load(numbered(0)), sized_payload(0));  // now the most recently used
  store.publish(numbered(10), sized_payload(10));
  EXPECT_EQ(store.stats().bytes, 9 * entry_bytes);
  for (int i = 0; i <= 10; ++i)
    EXPECT_EQ(fs::exists(folder.entry(numbered(i))), i != 1 && i != 2) << i;
}

TEST(Sweep, keeps_all_within_the_budget) {
  TestFolder folder;
  publish_aged(folder, 9);
  Store store(folder.path, 10 * entry_bytes);
  store.publish(numbered(10), sized_payload(10));
  EXPECT_EQ(store.stats().entries, 10u);
}

TEST(Sweep, holds_while_one_process_publishes_much) {
  TestFolder folder;
  Store store(folder.path, 20 * entry_bytes);
  for (int i = 0; i < 500; ++i) {
    store.publish(numbered(i), sized_payload(i));
    ASSERT_TRUE(fs::exists(folder.entry(numbered(i)))) << "just written: " << i;
    if (i % 50 == 0) {
      ASSERT_LE(store.stats().bytes, 20 * entry_bytes) << i;
    }
  }
  EXPECT_GE(store.stats().entries, 18u);
}

// Each of five publishes less than the budget; together they would reach 4.5 times of it.
TEST(Sweep, sees_what_other_processes_publish) {
  TestFolder folder;
  std::list<Store> stores;
  for (int i = 0; i < 5; ++i) stores.emplace_back(folder.path, 100 * entry_bytes);
  int next = 0;
  for (int i = 0; i < 90; ++i)
    for (Store& store : stores) {
      store.publish(numbered(next), sized_payload(next));
      ++next;
    }
  EXPECT_LE(stores.front().stats().entries, 100u + 5 * 100u / 16);
}

TEST(Sweep, never_removes_what_was_just_written_whatever_its_age) {
  TestFolder folder;
  publish_aged(folder, 5);
  EXPECT_EQ(sweep(folder.path, entry_bytes, folder.entry(numbered(0)).filename().string()),
            entry_bytes);
  EXPECT_TRUE(fs::exists(folder.entry(numbered(0))));
  EXPECT_EQ(folder.files(), 1u);
}

TEST(Sweep, an_entry_above_the_budget_is_not_kept_and_evicts_nothing) {
  TestFolder folder;
  publish_aged(folder, 5);
  Store store(folder.path, 5 * entry_bytes);
  Bytes large = pattern(6 * entry_bytes, 1);
  EXPECT_EQ(store.get_or_make(Key{"large"}, [&] { return large; }).payload, large);
  EXPECT_EQ(store.stats().entries, 5u);
}

TEST(Sweep, a_hit_marks_an_entry_as_used_once_a_minute) {
  TestFolder folder;
  publish_aged(folder, 1);
  Store store(folder.path, mega);
  EXPECT_TRUE(store.load(numbered(0)));
  EXPECT_LT(age_of(folder.entry(numbered(0))), 30);
  set_age(folder.entry(numbered(0)), 50);
  EXPECT_TRUE(store.load(numbered(0)));
  EXPECT_GE(age_of(folder.entry(numbered(0))), 50);
  set_age(folder.entry(numbered(0)), -5000);  // a wrong clock must not protect it for ever
  EXPECT_TRUE(store.load(numbered(0)));
  EXPECT_GE(age_of(folder.entry(numbered(0))), 0);
}

TEST(Sweep, removes_old_leftovers_and_no_others) {
  TestFolder folder;
  std::string name = entry_name("dead");
  fs::path old_temporary = folder.path / (name + ".1-1-0.tmp"),
           old_lock = folder.path / (name + ".lock"),
           new_temporary = folder.path / (name + ".1-1-1.tmp"),
           held_lock = folder.lock(Key{"alive"}), foreign = folder.path / "old.tmp";
  for (const fs::path& path : {old_temporary, old_lock, new_temporary, held_lock, foreign})
    write_file(path, {});
  for (const fs::path& path : {old_temporary, old_lock, held_lock, foreign}) set_age(path, 4000);
  int held = ::open(held_lock.c_str(), O_RDWR);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);

  Store(folder.path, mega).publish(numbered(0), sized_payload(0));
  EXPECT_FALSE(fs::exists(old_temporary));
  EXPECT_FALSE(fs::exists(old_lock));
  EXPECT_TRUE(fs::exists(new_temporary));
  EXPECT_TRUE(fs::exists(held_lock)) << "somebody compiles under it";
  EXPECT_TRUE(fs::exists(foreign));
  ::close(held);
}

}  // namespace
}  // namespace fuseline::cache
