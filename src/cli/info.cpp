// fuseline info: this machine as Fuseline sees it.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/env.hpp"
#include "base/json.hpp"
#include "cli/cache_text.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/terminal.hpp"
#include "ledger/nvml.hpp"
#include "program/device_registry.hpp"

namespace fuseline::cli {
namespace {

struct Processor {
  std::string name = "unknown";
  std::vector<std::string> features;  // vector instructions, as the kernel names them
};

bool is_vector_feature(std::string_view flag) {
  constexpr std::string_view prefixes[] = {"sse4",  "avx", "amx",  "fma", "f16c",
                                           "asimd", "sve", "bf16", "i8mm"};
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return flag.starts_with(prefix); });
}

Processor read_processor() {
  Processor processor;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    std::size_t colon = line.find(": ");
    if (colon == line.npos) continue;
    std::string key = line.substr(0, line.find_last_not_of("\t ", colon - 1) + 1);
    std::istringstream value(line.substr(colon + 2));
    if (key == "model name") processor.name = value.str();
    if (key != "flags" && key != "Features") continue;
    for (std::string flag; value >> flag;)
      if (is_vector_feature(flag)) processor.features.push_back(flag);
  }
  return processor;
}

// Variables of ours that are set. HOME and the XDG folders always are; they say nothing.
std::vector<std::pair<std::string, std::string>> set_variables() {
  std::vector<std::pair<std::string, std::string>> set;
  for (std::size_t i = 0; i < env_table().size(); ++i) {
    auto value = env(static_cast<EnvVar>(i));
    if (value && env_table()[i].name != "HOME") set.emplace_back(env_table()[i].name, *value);
  }
  return set;
}

int threads_of(const std::vector<DeviceStatus>& devices) {
  bool cpu = std::any_of(devices.begin(), devices.end(),
                         [](const DeviceStatus& d) { return d.name == "cpu" && d.available; });
  return cpu ? open_device("cpu").target().processors : 0;
}

// What the back end says, and what NVIDIA's management library adds to it.
std::vector<std::string> gpu_remarks(const DeviceStatus& device) {
  std::vector<std::string> remarks = device.remarks;
  if (!device.available) return remarks;
  GpuReport report = read_gpus();
  if (report.gpus.empty()) return remarks;
  const GpuState& gpu = report.gpus[0];
  if (report.driver) remarks.push_back("kernel driver " + *report.driver);
  if (gpu.mig.value_or(false))
    remarks.push_back("MIG is on: a part of the device has its own memory and multiprocessors");
  if (gpu.other_processes.value_or(0) > 0)
    remarks.push_back(fmt::format("{} other processes compute on it", *gpu.other_processes));
  if (gpu.throttle_reasons && !gpu.throttle_reasons->empty())
    remarks.push_back(
        fmt::format("clocks are lowered: {}", fmt::join(*gpu.throttle_reasons, ", ")));
  return remarks;
}

int print_info_json() {
  Processor processor = read_processor();
  std::vector<DeviceStatus> status = device_status();
  Json devices = Json::array(), variables = Json::object();
  for (const DeviceStatus& device : status)
    devices.push_back({{"name", device.name},
                       {"available", device.available},
                       {"detail", device.detail},
                       {"remarks", device.name == "cuda" ? gpu_remarks(device) : device.remarks}});
  for (const auto& [name, value] : set_variables()) variables[name] = value;
  print_json({{"version", FUSELINE_VERSION},
              {"cpu",
               {{"name", processor.name},
                {"features", processor.features},
                {"threads", threads_of(status)}}},
              {"devices", std::move(devices)},
              {"llvm", FUSELINE_LLVM_VERSION},
              {"cache", cache_json(cache::Store::user().stats())},
              {"environment", std::move(variables)}});
  return exit_fine;
}

void print_row(std::string_view name, std::string_view value) {
  print_line(stdout, fmt::format("{:<12}{}", name, value));
}

int print_info() {
  Processor processor = read_processor();
  std::vector<DeviceStatus> devices = device_status();
  print_row("fuseline", FUSELINE_VERSION);
  print_row("processor", processor.name);
  print_row("vectors", fmt::format("{}", fmt::join(processor.features, " ")));
  print_row("threads", std::to_string(threads_of(devices)));
  for (const DeviceStatus& device : devices) {
    print_row(device.name, (device.available ? "" : "not available: ") + device.detail);
    for (const std::string& remark : device.name == "cuda" ? gpu_remarks(device) : device.remarks)
      print_row("", remark);
  }
  print_row("llvm", FUSELINE_LLVM_VERSION);
  print_row("cache", cache_text(cache::Store::user().stats()));
  auto variables = set_variables();
  if (variables.empty()) print_row("environment", "nothing set");
  for (const auto& [name, value] : variables)
    print_row("environment", fmt::format("{}={}", name, value));
  return exit_fine;
}

}  // namespace

void add_info(CLI::App& program, Run& run) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      program.add_subcommand("info", "This machine: processor, devices, cache, settings");
  command->add_flag("--json", *json, "Print the result as JSON");
  command->footer("Examples:\n  fuseline info\n  fuseline info --json");
  command->callback(
      [json, &run] { run = [json] { return *json ? print_info_json() : print_info(); }; });
}

}  // namespace fuseline::cli
