// Looks into /proc, /sys and NVML.
#include "ledger/run_watch.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

namespace fuseline {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// None for a process that has ended: it holds no memory.
std::optional<double> resident_bytes(pid_t process) {
  std::istringstream in(text_of(fmt::format("/proc/{}/statm", process)));
  double all = 0, resident = 0;
  if (!(in >> all >> resident) || resident == 0) return std::nullopt;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

// The most that the program held so far.
double high_water_bytes(pid_t process) {
  std::ifstream in(fmt::format("/proc/{}/status", process));
  constexpr std::string_view key = "VmHWM:";
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) return 1024 * std::strtod(line.c_str() + key.size(), nullptr);
  return 0;
}

// Of a process that is alive.
struct ProcessState {
  unsigned long flags = 0;
  int processor = 0;  // that it ran on last
  // Its memory is going, or gone.
  bool is_ending() const { return flags & 0x4; }
};

// Its name, which may hold blanks, ends with ")".
std::optional<ProcessState> state_of(pid_t process) {
  constexpr int flags_field = 7, processor_field = 37;  // behind the name
  std::string text = text_of(fmt::format("/proc/{}/stat", process));
  std::size_t end = text.rfind(')');
  if (end == text.npos) return std::nullopt;
  std::istringstream in(text.substr(end + 1));
  ProcessState state;
  std::string field;
  for (int i = 1; i <= processor_field; ++i) {
    if (!(in >> field)) return std::nullopt;
    if (i == flags_field) state.flags = std::stoul(field);
  }
  state.processor = std::stoi(field);
  return state;
}

std::optional<double> clock_mhz(int processor) {
  double khz = 0;
  std::ifstream in(
      fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", processor));
  if (!(in >> khz) || khz <= 0) return std::nullopt;
  return khz / 1000;
}

}  // namespace

void RunWatch::begin() {
  values_.clear();
  cpu_clock_ = gpu_clock_ = {};
  high_water_ = 0;
  if (auto use = gpus_.look())
    values_[seen::gpu_before_bytes] = static_cast<double>(use->memory_used);
}

void RunWatch::look(pid_t process) {
  auto bytes = resident_bytes(process);
  auto state = state_of(process);  // last: an end between the two is seen
  if (!bytes || !state || state->is_ending()) return;
  values_.try_emplace(seen::start_bytes, *bytes);
  values_[seen::end_bytes] = *bytes;
  high_water_ = std::max(high_water_, high_water_bytes(process));
  if (auto mhz = clock_mhz(state->processor)) {
    cpu_clock_.sum += *mhz;
    ++cpu_clock_.count;
  }
  see_gpus();
}

void RunWatch::see_gpus() {
  constexpr double least_bytes = 1 << 20;
  auto use = gpus_.look();
  if (!use) return;
  auto used = static_cast<double>(use->memory_used);
  double& peak = values_[seen::gpu_peak_bytes];
  peak = std::max(peak, used);
  // The clock of a GPU that does something else, or nothing, is not this program's.
  if (!use->sm_clock_mhz || used < values_[seen::gpu_before_bytes] + least_bytes) return;
  gpu_clock_.sum += *use->sm_clock_mhz;
  ++gpu_clock_.count;
}

std::optional<double> RunWatch::peak_bytes(double of_rusage) const {
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  if (of_rusage > 1024.0 * static_cast<double>(own.ru_maxrss)) return of_rusage;
  if (high_water_ > 0) return high_water_;
  return std::nullopt;
}

std::map<std::string, double> RunWatch::end() {
  if (auto use = gpus_.look())
    values_[seen::gpu_after_bytes] = static_cast<double>(use->memory_used);
  if (cpu_clock_.count) values_[seen::cpu_mhz] = cpu_clock_.sum / cpu_clock_.count;
  if (gpu_clock_.count) values_[seen::gpu_mhz] = gpu_clock_.sum / gpu_clock_.count;
  return values_;
}

}  // namespace fuseline
