// The table of environment variables, and that nothing reads one around it.
#include "base/env.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace fuseline {
namespace {

TEST(Env, unset_and_empty_are_none) {
  ::unsetenv("FUSELINE_CACHE_DIR");
  EXPECT_EQ(env(EnvVar::cache_dir), std::nullopt);
  ::setenv("FUSELINE_CACHE_DIR", "", 1);
  EXPECT_EQ(env(EnvVar::cache_dir), std::nullopt);
  ::setenv("FUSELINE_CACHE_DIR", "/somewhere", 1);
  EXPECT_EQ(env(EnvVar::cache_dir), "/somewhere");
  ::unsetenv("FUSELINE_CACHE_DIR");
}

TEST(Env, rows_are_named_once_and_explained) {
  std::set<std::string_view> names;
  for (const EnvRow& row : env_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_GT(row.meaning.size(), 10u) << row.name;
  }
  EXPECT_EQ(name_of(EnvVar::home), "HOME");
}

TEST(Env, the_table_is_the_only_reader) {
  namespace fs = std::filesystem;
  std::size_t readers = 0;
  for (const auto& file : fs::recursive_directory_iterator(FUSELINE_SOURCE_DIR "/src")) {
    if (file.path().extension() != ".cpp" && file.path().extension() != ".hpp") continue;
    std::ifstream in(file.path());
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (text.find("getenv(") == text.npos) continue;
    ++readers;
    EXPECT_EQ(file.path().filename(), "env.cpp") << file.path();
  }
  EXPECT_EQ(readers, 1u);
}

}  // namespace
}  // namespace fuseline
