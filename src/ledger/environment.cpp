// Reading the record from /proc, /sys, git and NVML.
#include "ledger/environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ledger/nvml.hpp"
#include "ledger/process.hpp"

namespace fuseline {
namespace {

Json text_of_file(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line) || line.empty()) return nullptr;
  return line;
}

Json number_in(const std::string& text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return nullptr;
  return value;
}

// The value behind `key` of a file with lines "key: value" or "key value".
Json field_of_file(const std::string& path, std::string_view key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    std::size_t value = line.find_first_not_of("\t :", key.size());
    if (value == key.size() || value == line.npos) continue;
    return line.substr(value);
  }
  return nullptr;
}

Json number_of_file(const std::string& path, std::string_view key) {
  Json text = field_of_file(path, key);
  return text.is_string() ? number_in(text.get<std::string>()) : Json(nullptr);
}

// Where the controls of this process's group are; version 2 and then version 1 of cgroups.
Json cgroup_cpus() {
  Json limit = text_of_file("/sys/fs/cgroup/cpu.max");
  std::string quota, period;
  if (limit.is_string()) {
    std::istringstream(limit.get<std::string>()) >> quota >> period;
  } else {
    Json old = text_of_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    Json every = text_of_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    if (!old.is_string() || !every.is_string()) return nullptr;
    quota = old;
    period = every;
  }
  if (quota == "max" || quota == "-1") return "no limit";
  Json used = number_in(quota), full = number_in(period);
  if (!used.is_number() || !full.is_number() || full.get<double>() <= 0) return nullptr;
  return used.get<double>() / full.get<double>();
}

Json affinity() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return nullptr;
  return CPU_COUNT(&set);
}

Json load() {
  Json line = text_of_file("/proc/loadavg");
  return line.is_string() ? number_in(line.get<std::string>()) : Json(nullptr);
}

template <class Value>
Json optional_json(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json gpu_conditions(const GpuState& gpu) {
  return {{"name", gpu.name},
          {"sm_clock_mhz", optional_json(gpu.sm_clock_mhz)},
          {"memory_clock_mhz", optional_json(gpu.memory_clock_mhz)},
          {"temperature_c", optional_json(gpu.temperature_c)},
          {"power_w", optional_json(gpu.power_w)},
          {"energy_j", optional_json(gpu.energy_j)},
          {"memory_used", optional_json(gpu.memory_used)},
          {"mig", optional_json(gpu.mig)},
          {"throttle_reasons", optional_json(gpu.throttle_reasons)},
          {"other_processes", optional_json(gpu.other_processes)}};
}

Json hardware(const GpuReport& gpus) {
  Json cpu = field_of_file("/proc/cpuinfo", "model name");
  if (cpu.is_null()) cpu = field_of_file("/proc/cpuinfo", "CPU part");
  Json names = Json::array();
  for (const GpuState& gpu : gpus.gpus) names.push_back(gpu.name);
  return {{"cpu", std::move(cpu)},
          {"processors", ::sysconf(_SC_NPROCESSORS_CONF)},
          {"memory_bytes", ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE)},
          {"gpus", std::move(names)}};
}

Json software(const GpuReport& gpus) {
  Json system = field_of_file("/etc/os-release", "PRETTY_NAME=");
  if (system.is_null()) {
    std::ifstream in("/etc/os-release");
    for (std::string line; std::getline(in, line);)
      if (line.starts_with("PRETTY_NAME=\"")) system = line.substr(13, line.size() - 14);
  }
  utsname kernel{};
  Json release = ::uname(&kernel) == 0 ? Json(kernel.release) : Json(nullptr);
  return {{"system", std::move(system)},
          {"kernel", std::move(release)},
          {"driver", optional_json(gpus.driver)},
          {"cuda", optional_json(gpus.cuda)}};
}

Json source() {
  auto git = [](std::vector<std::string> words) -> Json {
    words.insert(words.begin(), {"git", "--no-optional-locks"});
    std::optional<std::string> out = output_of(words);
    return out ? Json(out->substr(0, out->find_last_not_of('\n') + 1)) : Json(nullptr);
  };
  Json commit = git({"rev-parse", "HEAD"});
  if (commit.is_null()) return {{"commit", nullptr}, {"dirty", nullptr}};
  Json changes = git({"status", "--porcelain", "--untracked-files=no"});
  Json dirty = changes.is_null() ? Json(nullptr) : Json(!changes.get<std::string>().empty());
  return {{"commit", std::move(commit)}, {"dirty", std::move(dirty)}};
}

Json conditions(const GpuReport& gpus) {
  Json states = Json::array();
  for (const GpuState& gpu : gpus.gpus) states.push_back(gpu_conditions(gpu));
  return {{"governor", text_of_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
          {"clock_mhz", number_of_file("/proc/cpuinfo", "cpu MHz")},
          {"affinity", affinity()},
          {"cgroup_cpus", cgroup_cpus()},
          {"load", load()},
          {"gpu_report", gpus.why_none.empty() ? Json("nvml") : Json(gpus.why_none)},
          {"gpus", std::move(states)}};
}

// All ticks of the processors and those that the hypervisor gave to others.
Json processor_ticks() {
  std::ifstream in("/proc/stat");
  std::string word;
  if (!(in >> word) || word != "cpu") return nullptr;
  constexpr int columns = 8, steal_column = 7;
  double all = 0, steal = 0, ticks = 0;
  for (int column = 0; column < columns && in >> ticks; ++column) {
    all += ticks;
    if (column == steal_column) steal = ticks;
  }
  return {{"all", all}, {"steal", steal}};
}

// Of all GPUs together; null where one does not tell.
Json energy_of(const GpuReport& gpus) {
  if (gpus.gpus.empty()) return nullptr;
  double energy = 0;
  for (const GpuState& gpu : gpus.gpus) {
    if (!gpu.energy_j) return nullptr;
    energy += *gpu.energy_j;
  }
  return energy;
}

Json counters() {
  GpuReport gpus = read_gpus();
  Json states = Json::array();
  for (const GpuState& gpu : gpus.gpus) states.push_back(gpu_conditions(gpu));
  return {{"ticks", processor_ticks()},
          {"energy_j", energy_of(gpus)},
          {"gpus", std::move(states)},
          {"throttled", text_of_file("/sys/devices/system/cpu/cpu0/thermal_throttle/"
                                     "core_throttle_count")},
          {"cgroup_throttled_us", number_of_file("/sys/fs/cgroup/cpu.stat", "throttled_usec")}};
}

}  // namespace

Json read_environment() {
  GpuReport gpus = read_gpus();
  return {{"hardware", hardware(gpus)},
          {"software", software(gpus)},
          {"source", source()},
          {"conditions", conditions(gpus)}};
}

ConditionsWatch::ConditionsWatch() : begin_(counters()) {}

Json ConditionsWatch::finish() const {
  Json end = counters();
  auto difference = [](const Json& from, const Json& to) -> Json {
    if (!from.is_number() || !to.is_number()) return nullptr;
    return to.get<double>() - from.get<double>();
  };
  auto number = [](const Json& text) {
    return text.is_string() ? number_in(text.get<std::string>()) : Json(nullptr);
  };
  Json steal = nullptr;
  if (begin_["ticks"].is_object() && end["ticks"].is_object()) {
    double all = difference(begin_["ticks"]["all"], end["ticks"]["all"]);
    double stolen = difference(begin_["ticks"]["steal"], end["ticks"]["steal"]);
    if (all > 0) steal = stolen / all;
  }
  return {{"steal", std::move(steal)},
          {"throttled", difference(number(begin_["throttled"]), number(end["throttled"]))},
          {"cgroup_throttled_us",
           difference(begin_["cgroup_throttled_us"], end["cgroup_throttled_us"])},
          {"gpu_energy_j", difference(begin_["energy_j"], end["energy_j"])},
          // At the end a GPU is still as warm and as slow as the work made it.
          {"gpus", end["gpus"]}};
}

std::vector<std::string> different_hardware(const Json& a, const Json& b) {
  std::vector<std::string> differences;
  for (const char* key : {"cpu", "processors", "gpus"}) {
    Json left = a.value("hardware", Json::object()).value(key, Json());
    Json right = b.value("hardware", Json::object()).value(key, Json());
    if (left != right)
      differences.push_back(
          fmt::format("{}: {} against {}", key, value_text(left), value_text(right)));
  }
  return differences;
}

std::string value_text(const Json& value) {
  if (value.is_null()) return "not measured";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_integer()) return fmt::format("{}", value.get<std::int64_t>());
  if (value.is_number()) return fmt::format("{:.3g}", value.get<double>());
  if (value.is_array() && value.empty()) return "none";
  if (!value.is_array()) return json_text(value, -1);
  std::vector<std::string> parts;
  for (const Json& part : value) parts.push_back(value_text(part));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace fuseline
