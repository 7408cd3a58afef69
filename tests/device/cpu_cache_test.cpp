// Kernels are compiled once in a process and found on the disk by the next one.
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "device/cpu_support.hpp"
#include "fuseline/error.hpp"

namespace fuseline::test {
namespace {

loop::Kernel add_kernel(std::int32_t amount) {
  loop::Kernel kernel;
  kernel.name = "add_something";
  loop::Builder b(kernel);
  int data = b.add_buffer({"data", DType::i32, true});
  b.store(data, b.block_id(), b.add(b.load(data, b.block_id()), b.integer(DType::i32, amount)));
  return kernel;
}

std::int32_t run_add(const CompiledKernel& kernel, std::int32_t start) {
  void* buffers[] = {&start};
  open_device("cpu").make_queue()->launch({.kernel = &kernel, .buffers = buffers, .blocks = 1});
  return start;
}

bool process_has_mapped(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  std::stringstream text;
  text << maps.rdbuf();
  return text.str().find(library) != std::string::npos;
}

// What this program prints when it runs one disabled test in a fresh process.
std::string run_child(const std::string& environment, const std::string& test) {
  std::string command = environment + " /proc/" + std::to_string(getpid()) +
                        "/exe --gtest_also_run_disabled_tests --gtest_filter=CpuChild.DISABLED_" +
                        test + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  std::array<char, 4096> part;
  while (std::size_t n = std::fread(part.data(), 1, part.size(), pipe))
    output.append(part.data(), n);
  EXPECT_EQ(pclose(pipe), 0) << output;
  return output;
}

TEST(CpuChild, DISABLED_compile) {
  auto kernel = open_device("cpu").compile(add_kernel(41));
  fmt::print("hit {} result {} llvm {}\n", kernel->record.cache_hit, run_add(*kernel, 1),
             process_has_mapped("libLLVM"));
}

TEST(CpuChild, DISABLED_open) {
  try {
    fmt::print("threads {}\n", open_device("cpu").target().processors);
  } catch (const Error& error) {
    fmt::print("error {}\n", error.what());
  }
}

TEST(CpuCache, the_same_kernel_is_compiled_once_by_many_threads) {
  Device& device = open_device("cpu");
  std::vector<std::shared_ptr<const CompiledKernel>> got(8);
  {
    std::vector<std::jthread> threads;
    for (auto& slot : got) threads.emplace_back([&] { slot = device.compile(add_kernel(7)); });
  }
  for (const auto& kernel : got) EXPECT_EQ(kernel, got[0]);
  EXPECT_EQ(run_add(*got[0], 5), 12);
  auto other = device.compile(add_kernel(8));
  EXPECT_NE(other, got[0]);
  EXPECT_EQ(run_add(*other, 5), 13);
}

TEST(CpuCache, a_fresh_process_runs_the_kernel_without_loading_llvm) {
  auto folder =
      std::filesystem::temp_directory_path() / fmt::format("fuseline-cpu-cache-{}", getpid());
  std::string environment = "FUSELINE_CACHE=on FUSELINE_CACHE_DIR=" + folder.string();
  EXPECT_THAT(run_child(environment, "compile"),
              ::testing::HasSubstr("hit false result 42 llvm true"));
  EXPECT_THAT(run_child(environment, "compile"),
              ::testing::HasSubstr("hit true result 42 llvm false"));
  // Without the cache every process compiles.
  EXPECT_THAT(run_child(environment + " FUSELINE_CACHE=off", "compile"),
              ::testing::HasSubstr("hit false result 42 llvm true"));
  std::filesystem::remove_all(folder);
}

TEST(CpuThreadBudget, follows_the_environment) {
  EXPECT_THAT(run_child("FUSELINE_NUM_THREADS=3 OMP_NUM_THREADS=5", "open"),
              ::testing::HasSubstr("threads 3"));
  EXPECT_THAT(run_child("OMP_NUM_THREADS=5,2", "open"), ::testing::HasSubstr("threads 5"));
  EXPECT_THAT(run_child("FUSELINE_NUM_THREADS=many", "open"),
              ::testing::HasSubstr("FUSELINE_NUM_THREADS must be a positive number"));
}

TEST(CpuThreadBudget, is_the_affinity_where_nothing_is_set) {
  EXPECT_THAT(run_child("env -u FUSELINE_NUM_THREADS -u OMP_NUM_THREADS taskset -c 0", "open"),
              ::testing::HasSubstr("threads 1"));
}

TEST(CpuDevice, gives_the_generated_source_when_asked) {
  EXPECT_THAT(open_device("cpu").source_of(add_kernel(9)),
              ::testing::HasSubstr("define void @add_something"));
}

TEST(CpuDevice, records_nothing_and_says_why) {
  auto queue = open_device("cpu").make_queue();
  EXPECT_THAT(queue->record_refusal(), ::testing::HasSubstr("nothing to record"));
  EXPECT_THROW(queue->begin_record(), InternalError);
}

TEST(CpuDevice, refuses_memory_that_does_not_exist) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's allocator ends the program instead";
#endif
  EXPECT_THROW(open_device("cpu").allocate(std::size_t{1} << 62), Error);
}

TEST(DeviceRegistry, names_what_is_missing) {
  EXPECT_EQ(&open_device("cpu"), &open_device("cpu"));
  EXPECT_THROW(open_device("tpu"), Error);
  EXPECT_THROW(open_device("cuda:x"), Error);
  bool found = false;
  for (const DeviceStatus& row : device_status()) {
    EXPECT_FALSE(row.detail.empty());
    if (row.name == "cpu") found = row.available;
    if (row.available) continue;
    try {
      open_device(row.name);
      FAIL() << "a device that is not available was opened";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::device);
      EXPECT_THAT(error.what(), ::testing::HasSubstr(row.detail));
    }
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace fuseline::test
