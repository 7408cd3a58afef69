// What is seen of a running program: its memory, and that of a GPU from a stand-in for NVML.
#include "ledger/run_watch.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "ledger/process.hpp"

namespace fuseline {
namespace {

std::map<std::string, double> watch(RunWatch& watch, const std::string& text) {
  watch.begin();
  ProcessOptions options;
  options.look = [&](pid_t process) { watch.look(process); };
  run_process({"sh", "-c", text}, options);
  return watch.end();
}

TEST(RunWatch, MemoryOfAProcess) {
  if (std::system("python3 -c pass") != 0) GTEST_SKIP() << "there is no python3";
  RunWatch one;
  auto seen = watch(one,
                    "exec python3 -c 'import os, time\n"
                    "block = bytes([1]) * (50 << 20)\n"
                    "time.sleep(0.2)\n"
                    "os._exit(0)\n'");  // at once: Python would free the block before it ends
  ASSERT_TRUE(seen.contains(seen::start_bytes) && seen.contains(seen::end_bytes));
  EXPECT_GT(seen[seen::end_bytes], seen[seen::start_bytes] + (40 << 20));
}

TEST(RunWatch, APeakBelowOurOwnMemoryIsNotOurs) {
  RunWatch one;
  watch(one, "sleep 0.02");
  std::vector<char> ours(64 << 20, 1);  // written, so resident
  double of_rusage = static_cast<double>(std::accumulate(ours.begin(), ours.end(), 0));
  auto peak = one.peak_bytes(of_rusage);
  ASSERT_TRUE(peak);
  EXPECT_LT(*peak, 32 << 20) << "that of sleep, which is small";
  EXPECT_EQ(one.peak_bytes(1e12), 1e12);
}

// Tells what a file says: bytes in use, and the clock.
constexpr const char* stand_in = R"(
#include <stdio.h>
#include <stdlib.h>
typedef void* Device;
static unsigned long long told(int which) {
  unsigned long long values[2] = {0, 0};
  FILE* file = fopen(getenv("STANDIN_GPU"), "r");
  if (file) {
    if (fscanf(file, "%llu %llu", values, values + 1) != 2) values[0] = 0;
    fclose(file);
  }
  return values[which];
}
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) { *count = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, Device* device) { *device = (Device)1; return 0; }
int nvmlDeviceGetClockInfo(Device d, int type, unsigned* mhz) { *mhz = told(1); return 0; }
struct Memory { unsigned long long total, free, used; };
int nvmlDeviceGetMemoryInfo(Device d, struct Memory* memory) { memory->used = told(0); return 0; }
)";

class GpuWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "fuseline-watch-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::ofstream(folder_ / "nvml.c") << stand_in;
    std::string command = "cd \"" + folder_.string() +
                          "\" && cc -shared -fPIC -o libnvidia-ml.so.1 nvml.c 2>/dev/null";
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << "there is no C compiler";
    ::setenv("FUSELINE_LIBRARY_PATH", folder_.c_str(), 1);
    ::setenv("STANDIN_GPU", (folder_ / "state").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("FUSELINE_LIBRARY_PATH");
    std::filesystem::remove_all(folder_);
  }
  void tell(const std::string& text) const { std::ofstream(folder_ / "state") << text; }
  std::string set(const std::string& text) const {
    return "echo " + text + " > '" + (folder_ / "state").string() + "'; sleep 0.12; ";
  }
  std::filesystem::path folder_;
};

TEST_F(GpuWatchTest, MemoryBeforePeakAndAfterAndTheClockOfItsWork) {
  tell("1000000000 300");
  RunWatch one;
  auto seen = watch(one, set("3000000000 1800") + set("2000000000 1800") +
                             "echo 1000000500 300 > '" + (folder_ / "state").string() + "'");
  EXPECT_EQ(seen[seen::gpu_before_bytes], 1e9);
  EXPECT_EQ(seen[seen::gpu_peak_bytes], 3e9);
  EXPECT_EQ(seen[seen::gpu_after_bytes], 1000000500);
  EXPECT_EQ(seen[seen::gpu_mhz], 1800);
}

TEST_F(GpuWatchTest, TheClockOfAGpuThatIsNotUsedIsNotTheProgramsClock) {
  tell("1000000000 300");
  RunWatch one;
  auto seen = watch(one, "sleep 0.05");
  EXPECT_EQ(seen[seen::gpu_peak_bytes], 1e9);
  EXPECT_FALSE(seen.contains(seen::gpu_mhz));
}

}  // namespace
}  // namespace fuseline
