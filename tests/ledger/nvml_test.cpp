// What is read from NVIDIA's management library, from a stand-in that the test compiles.
#include "ledger/nvml.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "ledger/environment.hpp"

namespace fuseline {
namespace {

// Lacks the newer name of the clock reasons, and does not tell the energy.
constexpr const char* stand_in = R"(
#include <string.h>
typedef void* Device;
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) { strncpy(text, "580.1", size); return 0; }
int nvmlSystemGetCudaDriverVersion_v2(int* version) { *version = 13010; return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) { *count = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, Device* device) { *device = (Device)1; return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, Device* device) {
  *device = (Device)1;
  return strcmp(bus, "0000:01:00.0") ? 6 : 0;
}
int nvmlDeviceGetMaxPcieLinkGeneration(Device d, unsigned* value) { *value = 5; return 0; }
int nvmlDeviceGetMaxPcieLinkWidth(Device d, unsigned* value) { *value = 16; return 0; }
int nvmlDeviceGetName(Device d, char* text, unsigned size) { strncpy(text, "G100", size); return 0; }
int nvmlDeviceGetClockInfo(Device d, int type, unsigned* mhz) { *mhz = 1000 + type; return 0; }
int nvmlDeviceGetTemperature(Device d, int sensor, unsigned* c) { *c = 61; return 0; }
int nvmlDeviceGetPowerUsage(Device d, unsigned* mw) { *mw = 250500; return 0; }
int nvmlDeviceGetTotalEnergyConsumption(Device d, unsigned long long* mj) { return 3; }
int nvmlDeviceGetMigMode(Device d, unsigned* now, unsigned* next) { *now = 1; return 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(Device d, unsigned long long* bits) {
  *bits = 0x1 | 0x4 | 0x20;
  return 0;
}
struct Process { unsigned pid; unsigned long long memory; unsigned gpu, compute; };
int nvmlDeviceGetComputeRunningProcesses_v3(Device d, unsigned* count, struct Process* list) {
  list[0].pid = 1;
  list[1].pid = 2;
  *count = 2;
  return 0;
}
)";

class NvmlTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "fuseline-nvml-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::ofstream(folder_ / "nvml.c") << stand_in;
    std::string command = "cd \"" + folder_.string() +
                          "\" && cc -shared -fPIC -o libnvidia-ml.so.1 nvml.c 2>/dev/null";
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << "there is no C compiler";
    ::setenv("FUSELINE_LIBRARY_PATH", folder_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("FUSELINE_LIBRARY_PATH");
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path folder_;
};

TEST_F(NvmlTest, StateOfAGpu) {
  GpuReport report = read_gpus();
  EXPECT_EQ(report.driver, "580.1");
  EXPECT_EQ(report.cuda, "13.1");
  ASSERT_EQ(report.gpus.size(), 1u);
  const GpuState& gpu = report.gpus[0];
  EXPECT_EQ(gpu.name, "G100");
  EXPECT_EQ(gpu.sm_clock_mhz, 1001u);
  EXPECT_EQ(gpu.memory_clock_mhz, 1002u);
  EXPECT_EQ(gpu.temperature_c, 61u);
  EXPECT_EQ(gpu.power_w, 250.5);
  EXPECT_EQ(gpu.mig, true);
  EXPECT_EQ(gpu.other_processes, 2u);
  EXPECT_THAT(gpu.throttle_reasons.value(), testing::ElementsAre("power cap", "thermal slowdown"));
  // What this library does not tell is absent, not zero.
  EXPECT_FALSE(gpu.energy_j);
  EXPECT_FALSE(gpu.memory_used);
  EXPECT_EQ(gpu.uuid, "");
}

TEST_F(NvmlTest, TheTrustBoxShowsIt) {
  Json record = read_environment();
  record["during"] = ConditionsWatch().finish();
  std::string all;
  for (const std::string& line : environment_lines(record)) all += line + "\n";
  for (const char* part :
       {"G100, SM 1001 MHz, 61 C, 25", "throttling: power cap, thermal slowdown",
        "other processes: 2; MIG:", "energy      not measured", "driver      580.1, CUDA 13.1"})
    EXPECT_THAT(all, testing::HasSubstr(part));
}

TEST_F(NvmlTest, LinkAndClockOfAGpuByItsBus) {
  GpuProbe probe("0000:01:00.0");
  EXPECT_EQ(probe.sm_clock_mhz(), 1001u);
  ASSERT_TRUE(probe.link());
  EXPECT_EQ(probe.link()->generation, 5u);
  EXPECT_NEAR(probe.link()->gb_per_s(), 63.0, 0.1);
  GpuProbe nobody("0000:02:00.0");
  EXPECT_FALSE(nobody.sm_clock_mhz());
  EXPECT_FALSE(nobody.link());
}

TEST(Nvml, WithoutALibraryItSaysWhy) {
  GpuReport report = read_gpus();
  if (report.gpus.empty()) {
    EXPECT_NE(report.why_none, "");
  }
}

}  // namespace
}  // namespace fuseline
