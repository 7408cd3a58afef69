// Single flight between threads, and the lock between stores.
#include <gmock/gmock.h>

#include <atomic>
#include <barrier>
#include <thread>

#include "cache/key_lock.hpp"
#include "cache/support.hpp"
#include "fuseline/error.hpp"

namespace fuseline::cache {
namespace {

const Key key{"kernel"};

template <class Body>
void on_threads(int count, Body body) {
  std::barrier start(count);
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      body(i);
    });
}

TEST(Flight, many_threads_make_once) {
  for (int round = 0; round < 20; ++round) {
    TestFolder folder;
    Store store(folder.path, mega);
    std::atomic<int> made = 0, hits = 0;
    on_threads(8, [&](int) {
      Result result = store.get_or_make(key, [&] {
        ++made;
        pause_ms(2);
        return pattern(5000, 1);
      });
      EXPECT_EQ(result.payload, pattern(5000, 1));
      hits += result.hit;
    });
    EXPECT_EQ(made, 1);
    EXPECT_EQ(hits, 7);
    EXPECT_EQ(store.stats().misses, 1u);
    EXPECT_EQ(store.stats().hits, 7u);
    EXPECT_EQ(folder.files(), 1u);
  }
}

TEST(Flight, stores_of_one_folder_make_once) {
  for (int round = 0; round < 20; ++round) {
    TestFolder folder;
    std::atomic<int> made = 0;
    on_threads(6, [&](int) {
      Store store(folder.path, mega);
      EXPECT_EQ(store
                    .get_or_make(key,
                                 [&] {
                                   ++made;
                                   pause_ms(2);
                                   return pattern(5000, 1);
                                 })
                    .payload,
                pattern(5000, 1));
    });
    EXPECT_EQ(made, 1);
    EXPECT_EQ(folder.files(), 1u);
  }
}

TEST(Flight, without_a_disk_those_who_wait_get_the_payload) {
  Store store({}, mega);
  std::atomic<int> made = 0, arrived = 0;
  on_threads(8, [&](int) {
    ++arrived;
    EXPECT_EQ(store
                  .get_or_make(key,
                               [&] {
                                 ++made;
                                 while (arrived < 8) pause_ms(1);
                                 pause_ms(200);  // from arriving to waiting
                                 return pattern(50, 1);
                               })
                  .payload,
              pattern(50, 1));
  });
  EXPECT_EQ(made, 1);
}

TEST(Flight, different_keys_are_made_at_the_same_time) {
  TestFolder folder;
  Store store(folder.path, mega);
  std::barrier together(4);  // passes only when four make() run at once
  on_threads(4, [&](int i) {
    store.get_or_make(Key{std::to_string(i)}, [&] {
      together.arrive_and_wait();
      return Bytes{};
    });
  });
  EXPECT_EQ(store.stats().entries, 4u);
}

TEST(Flight, when_one_fails_the_next_one_makes) {
  TestFolder folder;
  Store store(folder.path, mega);
  std::atomic<int> made = 0, failed = 0;
  on_threads(6, [&](int) {
    try {
      Result result = store.get_or_make(key, [&]() -> Bytes {
        int turn = made++;
        pause_ms(2);
        if (turn < 3) throw std::runtime_error("no");
        return pattern(50, 1);
      });
      EXPECT_EQ(result.payload, pattern(50, 1));
    } catch (const std::runtime_error&) {
      ++failed;
    }
  });
  EXPECT_EQ(made, 4);
  EXPECT_EQ(failed, 3);
}

TEST(Flight, make_may_ask_for_other_keys) {
  TestFolder folder;
  Store store(folder.path, mega);
  // Every key i needs all the smaller ones; threads start at different ends.
  std::function<Bytes(int)> get = [&](int i) {
    return store
        .get_or_make(Key{std::to_string(i)},
                     [&, i] {
                       for (int need = i - 1; need >= 0; --need) get(need);
                       return pattern(10, static_cast<std::uint64_t>(i));
                     })
        .payload;
  };
  on_threads(
      4, [&](int i) { EXPECT_EQ(get(12 - i), pattern(10, static_cast<std::uint64_t>(12 - i))); });
  EXPECT_EQ(store.stats().entries, 13u);
  EXPECT_EQ(store.stats().misses, 13u);
}

#ifndef FUSELINE_ABORT_ON_INTERNAL_ERROR
TEST(Flight, a_key_that_needs_itself_is_refused) {
  TestFolder folder;
  Store store(folder.path, mega);
  auto make = [&] { return store.get_or_make(key, [] { return Bytes{}; }).payload; };
  EXPECT_THROW(store.get_or_make(key, make), InternalError);
  EXPECT_FALSE(store.get_or_make(key, [] { return Bytes{}; }).hit) << "the key is free again";
}
#endif

TEST(Flight, threads_mix_all_operations) {
  TestFolder folder;
  Store store(folder.path, 40000);
  std::atomic<int> wrong = 0;
  on_threads(4, [&](int thread) {
    for (int i = 0; i < 200; ++i) {
      int k = (i * 7 + thread) % 23;
      Bytes want = pattern(3000, static_cast<std::uint64_t>(k));
      if (i % 31 == 0) store.clear();
      if (i % 17 == 0) (void)store.stats();
      if (i % 5 == 0) store.publish(Key{std::to_string(k)}, want);
      auto loaded = store.load(Key{std::to_string(k)});
      if (loaded && *loaded != want) ++wrong;
      if (store.get_or_make(Key{std::to_string(k)}, [&] { return want; }).payload != want) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(store.stats().rejected, 0u);
}

TEST(KeyLock, excludes_and_gives_up_after_its_patience) {
  TestFolder folder;
  KeyLock first(folder.lock(key), std::chrono::seconds(1));
  ASSERT_TRUE(first.held());
  KeyLock second(folder.lock(key), std::chrono::milliseconds(30));
  EXPECT_FALSE(second.held());
  EXPECT_TRUE(second.timed_out());
  EXPECT_THAT(second.problem(), testing::HasSubstr("held by another process"));
  EXPECT_FALSE(KeyLock::remove_if_free(folder.lock(key)));
}

TEST(KeyLock, exclusion_holds_while_files_come_and_go) {
  TestFolder folder;
  std::atomic<int> inside = 0, most = 0;
  on_threads(4, [&](int) {
    for (int i = 0; i < 300; ++i) {
      KeyLock lock(folder.lock(key), std::chrono::seconds(60));
      ASSERT_TRUE(lock.held());
      int now = ++inside;
      if (now > most) most = now;
      std::this_thread::yield();
      --inside;
      if (i % 3 == 0) KeyLock::remove_if_free(folder.lock(Key{"another"}));
    }
  });
  EXPECT_EQ(most, 1);
  EXPECT_EQ(folder.files(), 0u);
}

TEST(KeyLock, a_removed_folder_is_made_again) {
  TestFolder folder;
  KeyLock lock(folder.path / "gone" / "x.lock", std::chrono::seconds(1));
  EXPECT_TRUE(lock.held());
}

}  // namespace
}  // namespace fuseline::cache
