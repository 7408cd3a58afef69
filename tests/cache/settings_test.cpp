// The environment variables of the user's cache.
#include "cache/settings.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "cache/store.hpp"
#include "cache/support.hpp"
#include "fuseline/error.hpp"

namespace fuseline::cache {
namespace {

using testing::HasSubstr;

const char* const names[] = {"FUSELINE_CACHE", "FUSELINE_CACHE_DIR", "FUSELINE_CACHE_BYTES",
                             "XDG_CACHE_HOME", "HOME"};

class CacheSettings : public testing::Test {
 protected:
  CacheSettings() {
    for (const char* name : names) {
      const char* value = ::getenv(name);
      saved_.emplace_back(name, value ? std::optional<std::string>(value) : std::nullopt);
      ::unsetenv(name);
    }
  }
  ~CacheSettings() override {
    for (const auto& [name, value] : saved_)
      value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
  }
  static void set(const char* name, const char* value) { ::setenv(name, value, 1); }
  static std::string error_of_settings() {
    try {
      user_settings();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> saved_;
};

TEST_F(CacheSettings, folder_in_the_order_of_the_variables) {
  EXPECT_EQ(user_settings().folder, fs::path());
  EXPECT_THAT(user_settings().why_off, HasSubstr("HOME is not set"));
  set("HOME", "/home/ann");
  EXPECT_EQ(user_settings().folder, "/home/ann/.cache/fuseline");
  set("XDG_CACHE_HOME", "/var/caches");
  EXPECT_EQ(user_settings().folder, "/var/caches/fuseline");
  set("FUSELINE_CACHE_DIR", "/fast/disk");
  EXPECT_EQ(user_settings().folder, "/fast/disk");
  EXPECT_EQ(user_settings().why_off, "");
}

TEST_F(CacheSettings, relative_folders) {
  set("FUSELINE_CACHE_DIR", "here");
  EXPECT_EQ(user_settings().folder, fs::current_path() / "here");
  ::unsetenv("FUSELINE_CACHE_DIR");
  set("XDG_CACHE_HOME", "relative");
  set("HOME", "/home/ann");
  testing::internal::CaptureStderr();
  EXPECT_EQ(user_settings().folder, "/home/ann/.cache/fuseline");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("XDG_CACHE_HOME"));
}

TEST_F(CacheSettings, off) {
  set("HOME", "/home/ann");
  set("FUSELINE_CACHE", "off");
  EXPECT_EQ(user_settings().folder, fs::path());
  EXPECT_EQ(user_settings().why_off, "FUSELINE_CACHE=off");
  set("FUSELINE_CACHE", "on");
  EXPECT_EQ(user_settings().folder, "/home/ann/.cache/fuseline");
  set("FUSELINE_CACHE", "perhaps");
  EXPECT_EQ(error_of_settings(), "FUSELINE_CACHE: \"perhaps\" is neither on nor off");
}

TEST_F(CacheSettings, budget) {
  EXPECT_EQ(user_settings().budget, std::uint64_t{1} << 30);
  set("FUSELINE_CACHE_BYTES", "200M");
  EXPECT_EQ(user_settings().budget, 200u << 20);
  EXPECT_EQ(parse_bytes("0", "x"), 0u);
  EXPECT_EQ(parse_bytes("1023", "x"), 1023u);
  EXPECT_EQ(parse_bytes("3K", "x"), 3072u);
  EXPECT_EQ(parse_bytes("16G", "x"), std::uint64_t{16} << 30);
  EXPECT_EQ(parse_bytes("18446744073709551615", "x"), ~std::uint64_t{0});
  for (const char* bad : {"K", "-1", "+1", " 1", "1 M", "1T", "1.5G", "1MM", "0x10",
                          "18446744073709551616", "17179869184G"}) {
    set("FUSELINE_CACHE_BYTES", bad);
    EXPECT_THAT(error_of_settings(), HasSubstr("FUSELINE_CACHE_BYTES: \"" + std::string(bad) +
                                               "\" is not a size; give bytes"));
  }
}

// Store::user() reads the environment once, so each case runs in a child.
int user_store_in_child(const std::function<int(Store&)>& check) {
  return exit_code(start_child([&] { return check(Store::user()); }));
}

TEST_F(CacheSettings, the_user_store_obeys_them) {
  TestFolder folder;
  set("FUSELINE_CACHE_DIR", folder.path.c_str());
  set("FUSELINE_CACHE_BYTES", "1M");
  const Key key{"k"};
  auto publish = [&](Store& store) {
    store.publish(key, pattern(10, 1));
    return store.stats().budget == mega && store.load(key) == pattern(10, 1) ? 0 : 1;
  };
  EXPECT_EQ(user_store_in_child(publish), 0);
  EXPECT_TRUE(fs::exists(folder.entry(key)));

  set("FUSELINE_CACHE", "off");
  EXPECT_EQ(user_store_in_child([&](Store& store) { return store.load(key) ? 1 : 0; }), 0);
}

TEST_F(CacheSettings, without_home_the_user_store_works_and_says_why) {
  EXPECT_EQ(exit_code(start_child([] {
              testing::internal::CaptureStderr();
              for (int i = 0; i < 2; ++i)
                if (Store::user().get_or_make(Key{"k"}, [] { return pattern(9, 1); }).hit) return 1;
              return testing::internal::GetCapturedStderr() ==
                             "fuseline: warning: no cache of generated code: HOME is not set; set "
                             "it or FUSELINE_CACHE_DIR\n"
                         ? 0
                         : 2;
            })),
            0);
}

}  // namespace
}  // namespace fuseline::cache
