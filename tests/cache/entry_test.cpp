// Every way in which an entry can be damaged: a miss or the right payload, never a wrong one.
#include "cache/entry.hpp"

#include <gmock/gmock.h>

#include "base/log.hpp"
#include "cache/support.hpp"

namespace fuseline::cache {
namespace {

using testing::HasSubstr;

const Key key{"source text; target x86-64-v3; compiler 19.1.7"};
const Bytes payload = pattern(200, 1);

class Entry : public testing::Test {
 protected:
  Entry() { write_file(path, good); }

  // The payload, or the logged reason for the rejection.
  std::string rejection(const Bytes& content) {
    write_file(path, content);
    return rejection_as_is();
  }
  std::string rejection_as_is() {
    Store store(folder.path, mega);
    testing::internal::CaptureStderr();
    auto loaded = store.load(key);
    std::string log = testing::internal::GetCapturedStderr();
    EXPECT_EQ(store.stats().rejected, loaded ? 0u : 1u);
    EXPECT_EQ(store.stats().misses, loaded ? 0u : 1u);
    if (loaded) {
      EXPECT_EQ(*loaded, payload);
    }
    return loaded ? "" : log.empty() ? "nothing logged" : log;
  }

  template <class Change>
  Bytes changed(Change change) const {
    Bytes copy = good;
    EntryHeader header;
    std::memcpy(&header, copy.data(), sizeof header);
    change(header);
    std::memcpy(copy.data(), &header, sizeof header);
    return copy;
  }

  TestFolder folder;
  fs::path path = folder.entry(key);
  Bytes good = encode_entry(key.text, payload);
};

TEST_F(Entry, is_found) { EXPECT_EQ(rejection(good), ""); }

TEST_F(Entry, every_flipped_bit_is_a_miss) {
  for (std::size_t at = 0; at < good.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bad = good;
      bad[at] ^= std::byte(1 << bit);
      write_file(path, bad);
      EntryRead read = read_entry(path, key.text);
      ASSERT_EQ(read.state, ReadState::rejected) << "byte " << at << " bit " << bit;
      ASSERT_NE(read.reason, "");
      ASSERT_TRUE(read.payload.empty());
    }
}

TEST_F(Entry, every_truncation_is_a_miss) {
  for (std::size_t size = 0; size < good.size(); ++size) {
    write_file(path, Bytes(good.begin(), good.begin() + static_cast<long>(size)));
    EntryRead read = read_entry(path, key.text);
    ASSERT_EQ(read.state, ReadState::rejected) << size;
    ASSERT_NE(read.reason, "");
  }
}

TEST_F(Entry, appended_bytes_are_a_miss) {
  Bytes longer = good;
  for (int i = 0; i < 3; ++i) {
    longer.push_back(std::byte(0));
    EXPECT_THAT(rejection(longer), HasSubstr("its header says"));
  }
}

TEST_F(Entry, another_format_is_named) {
  Bytes newer = changed([](EntryHeader& header) { header.format = entry_format + 1; });
  EXPECT_THAT(rejection(newer), HasSubstr("format 2, this version reads 1"));
}

TEST_F(Entry, absurd_sizes_are_not_believed) {
  for (std::uint64_t size : {~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1} << 40}) {
    EXPECT_THAT(rejection(changed([&](EntryHeader& header) { header.key_bytes = size; })),
                HasSubstr("its header says"));
    EXPECT_THAT(rejection(changed([&](EntryHeader& header) { header.payload_bytes = size; })),
                HasSubstr("its header says"));
  }
  // Key and payload wrap around to the right sum.
  EXPECT_THAT(rejection(changed([](EntryHeader& header) {
                header.payload_bytes += header.key_bytes + 8;
                header.key_bytes = ~std::uint64_t{0} - 7;
              })),
              HasSubstr("its header says"));
}

TEST_F(Entry, a_huge_sparse_file_is_not_read) {
  write_file(path, changed([](EntryHeader& header) {
               header.payload_bytes = (std::uint64_t{1} << 41) - 48 - header.key_bytes;
             }));
  if (::truncate(path.c_str(), off_t{1} << 41) != 0) GTEST_SKIP() << "no sparse files of 2 TB here";
  EXPECT_THAT(rejection_as_is(), HasSubstr("cannot be an entry"));
}

TEST_F(Entry, border_between_key_and_payload_is_checked) {
  // The same bytes, but one of the key is said to belong to the payload: the checksum covers that.
  EXPECT_THAT(rejection(changed([](EntryHeader& header) {
                --header.key_bytes;
                ++header.payload_bytes;
              })),
              HasSubstr("checksum"));
}

TEST_F(Entry, another_key_under_the_same_name_is_a_miss) {
  Key same_size = key;
  same_size.text.back() = '8';
  EXPECT_THAT(rejection(encode_entry(same_size.text, payload)), HasSubstr("another key"));
  EXPECT_THAT(rejection(encode_entry(key.text + "x", payload)), HasSubstr("another key"));
  EXPECT_THAT(rejection(encode_entry("", payload)), HasSubstr("another key"));
}

TEST_F(Entry, a_rejected_entry_is_replaced_by_the_next_publish) {
  Bytes bad = good;
  bad.back() ^= std::byte(1);
  EXPECT_THAT(rejection(bad), HasSubstr("checksum"));
  EXPECT_TRUE(fs::exists(path)) << "a rejection deletes nothing";
  Store(folder.path, mega).publish(key, payload);
  EXPECT_EQ(rejection_as_is(), "");
}

TEST_F(Entry, what_others_may_write_is_not_believed) {
  ::chmod(path.c_str(), 0622);
  EXPECT_THAT(rejection_as_is(), HasSubstr("other users may write"));
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  write_file(path, good);
  ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
  EXPECT_THAT(rejection_as_is(), HasSubstr("another user"));
}

TEST_F(Entry, what_is_not_a_file_is_a_miss_and_does_not_block) {
  fs::rename(path, folder.path / "elsewhere");
  fs::create_symlink(folder.path / "elsewhere", path);
  EXPECT_THAT(rejection_as_is(), HasSubstr("symbolic link"));
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_THAT(rejection_as_is(), HasSubstr("not a regular file"));
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(rejection_as_is(), HasSubstr("not a regular file"));
}

TEST_F(Entry, empty_key_and_payload_are_entries_too) {
  for (const Key& k : {Key{""}, Key{"k"}, Key{std::string("a\0b", 3)}})
    for (std::size_t size : {0, 1, 100000}) {
      Store store(folder.path, mega);
      store.publish(k, pattern(size, 7));
      EXPECT_EQ(store.load(k), pattern(size, 7));
    }
}

TEST_F(Entry, names_are_hashes_of_the_key) {
  EXPECT_EQ(entry_name("a").size(), 32u);
  EXPECT_EQ(entry_name("a"), entry_name("a"));
  EXPECT_NE(entry_name("a"), entry_name("b"));
}

}  // namespace
}  // namespace fuseline::cache
