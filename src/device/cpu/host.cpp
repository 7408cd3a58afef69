// Affinity, control-group quotas, thread variables and processor identification.
#include "device/cpu/host.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/auxv.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "base/env.hpp"
#include "base/fail.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace fuseline::cpu {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

int affinity_processors() {
  // More processors than the fixed set holds need a larger one.
  for (std::size_t count = 1024; count <= (1 << 18); count *= 4) {
    cpu_set_t* set = CPU_ALLOC(count);
    std::size_t bytes = CPU_ALLOC_SIZE(count);
    bool known = sched_getaffinity(0, bytes, set) == 0;
    int allowed = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known) return allowed;
  }
  return static_cast<int>(std::thread::hardware_concurrency());
}

// "max 100000" or "200000 100000": microseconds of processor time in each period.
std::optional<double> parse_quota(const std::string& line) {
  std::istringstream in(line);
  double quota = 0, period = 0;
  if (in >> quota >> period && quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

// The quota of this process's group and of the groups around it (version 2).
std::optional<double> group_quota() {
  std::string own = first_line("/proc/self/cgroup");
  std::optional<double> least;
  auto consider = [&](const std::string& path) {
    auto quota = parse_quota(first_line(path + "/cpu.max"));
    if (quota && (!least || *quota < *least)) least = quota;
  };
  consider("/sys/fs/cgroup");
  if (!own.starts_with("0::/")) return least;
  std::string path = own.substr(3);
  while (path.size() > 1) {
    consider("/sys/fs/cgroup" + path);
    path.resize(path.rfind('/'));
  }
  return least;
}

std::optional<int> threads_from(EnvVar variable) {
  std::optional<std::string> text = env(variable);
  if (!text) return std::nullopt;
  // OMP_NUM_THREADS may list one number for each level of nesting; the first counts.
  std::string first = text->substr(0, text->find(','));
  int threads = 0;
  auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), threads);
  if (error != std::errc() || end != first.data() + first.size() || threads < 1)
    fail("{} must be a positive number of threads, not \"{}\"", name_of(variable), *text);
  return threads;
}

}  // namespace

int allowed_processors() {
  int count = affinity_processors();
  if (auto quota = group_quota()) count = std::min(count, static_cast<int>(std::ceil(*quota)));
  return std::max(count, 1);
}

int thread_budget() {
  if (auto threads = threads_from(EnvVar::num_threads)) return *threads;
  if (auto threads = threads_from(EnvVar::omp_num_threads)) return *threads;
  return allowed_processors();
}

#if defined(__x86_64__)

std::string processor_identity() {
  std::string text = "x86_64";
  auto add = [&](unsigned leaf, unsigned subleaf, bool with_b) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(leaf, subleaf, &a, &b, &c, &d)) return;
    // Leaf 1 has the number of the core in b.
    text += fmt::format(" {:x}.{}:{:x},{:x},{:x},{:x}", leaf, subleaf, a, with_b ? b : 0, c, d);
  };
  add(0, 0, true);
  add(1, 0, false);
  add(7, 0, true);
  add(7, 1, true);
  add(0xd, 1, false);
  add(0x14, 0, true);
  add(0x19, 0, true);
  add(0x24, 0, true);
  add(0x80000001, 0, true);
  add(0x80000008, 0, true);
  unsigned low = 0, high = 0, a, b, c = 0, d;
  // Which registers the operating system saves.
  if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE))
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return text + fmt::format(" xcr0:{:x}{:08x}", high, low);
}

#else

std::string processor_identity() {
  std::string text = fmt::format("hwcap {:x} {:x}", getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();)
    if (line.starts_with("CPU ")) text += "; " + line;
  return text;
}

#endif

}  // namespace fuseline::cpu
