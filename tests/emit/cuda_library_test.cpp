// Search of NVIDIA's libraries: folders, names, and the reason why one is missing.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "device/cuda/library.hpp"

namespace fuseline::cuda {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class CudaLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("fuseline-libraries-" + std::to_string(getpid()));
    fs::create_directories(folder_ / "nvidia" / "part" / "lib");
    setenv("FUSELINE_LIBRARY_PATH", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("FUSELINE_LIBRARY_PATH");
    fs::remove_all(folder_);
  }
  fs::path folder_;
};

TEST_F(CudaLibrary, listed_folders_and_their_wheels_come_first) {
  std::vector<std::string> folders = library_folders();
  ASSERT_GE(folders.size(), 3u);
  EXPECT_EQ(folders[0], folder_.string());
  EXPECT_EQ(folders[1], (folder_ / "nvidia/part/lib").string());
  EXPECT_EQ(folders[2], "") << "then the loader's own search";
}

TEST_F(CudaLibrary, a_missing_library_has_a_reason_that_names_what_to_do) {
  constexpr const char* names[] = {"libfuseline-none.so.2", "libfuseline-none.so.1"};
  Library library(names);
  EXPECT_FALSE(library);
  EXPECT_EQ(library.reason(),
            "libfuseline-none.so.2, libfuseline-none.so.1 not found; install it or name its folder "
            "in FUSELINE_LIBRARY_PATH");
  int (*function)(int) = nullptr;
  library.resolve(function, "anything");
  EXPECT_EQ(function, nullptr);
}

TEST_F(CudaLibrary, a_file_that_is_no_library_is_named) {
  std::ofstream(folder_ / "libfuseline-bad.so.1") << "not a library";
  constexpr const char* names[] = {"libfuseline-bad.so.1"};
  Library library(names);
  EXPECT_FALSE(library);
  EXPECT_THAT(library.reason(), HasSubstr("libfuseline-bad.so.1 was found but does not load"));
}

TEST_F(CudaLibrary, a_wheel_is_found_and_a_lacking_symbol_counts_as_missing) {
  constexpr const char* libc[] = {"libc.so.6"};
  Library whole(libc);
  ASSERT_TRUE(whole) << whole.reason();
  int (*known)(int) = nullptr;
  whole.resolve(known, "abs");
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known(-3), 3);
  whole.resolve(known, "fuseline_no_such_symbol");
  EXPECT_FALSE(whole);
  EXPECT_THAT(whole.reason(), HasSubstr("has no fuseline_no_such_symbol"));
}

}  // namespace
}  // namespace fuseline::cuda
