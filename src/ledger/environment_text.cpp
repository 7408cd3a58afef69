// The trust box's part about machine and source.
#include <fmt/format.h>

#include "ledger/environment.hpp"
#include "ledger/text.hpp"

namespace fuseline {
namespace {

// A key of a key, or null.
Json at(const Json& environment, const char* part, const char* key) {
  return environment.value(part, Json::object()).value(key, Json());
}

std::string source_text(const Json& environment) {
  Json commit = at(environment, "source", "commit"), dirty = at(environment, "source", "dirty");
  if (!commit.is_string()) return "no git checkout";
  std::string text = commit.get<std::string>().substr(0, 12);
  if (dirty.is_null()) return text + ", changes not measured";
  return text + (dirty.get<bool>() ? ", with changes" : ", no changes");
}

std::string share_text(const Json& share) {
  return share.is_number() ? fmt::format("{:.1f} %", 100 * share.get<double>()) : "not measured";
}

std::string gpu_text(const Json& gpu) {
  auto with_unit = [&](const char* key, const char* unit) {
    Json value = gpu.value(key, Json());
    return value.is_null() ? value_text(value) : value_text(value) + unit;
  };
  return fmt::format("{}, SM {}, {}, {}", value_text(gpu.value("name", Json())),
                     with_unit("sm_clock_mhz", " MHz"), with_unit("temperature_c", " C"),
                     with_unit("power_w", " W"));
}

}  // namespace

std::vector<std::string> environment_lines(const Json& environment) {
  std::vector<std::string> lines;
  auto add = [&](const char* name, const std::string& text) {
    lines.push_back(labeled(name, text));
  };
  auto value = [&](const char* part, const char* key) {
    return value_text(at(environment, part, key));
  };
  add("cpu",
      fmt::format("{}, {} processors", value("hardware", "cpu"), value("hardware", "processors")));
  add("governor", fmt::format("{}; may use {} processors, cgroup {}; load {}",
                              value("conditions", "governor"), value("conditions", "affinity"),
                              value("conditions", "cgroup_cpus"), value("conditions", "load")));
  const Json during = environment.value("during", Json::object());
  add("meanwhile", fmt::format("steal {}, thermal throttling {}, cgroup throttling {}",
                               share_text(during.value("steal", Json())),
                               value_text(during.value("throttled", Json())),
                               value_text(during.value("cgroup_throttled_us", Json()))));
  Json gpus = during.value("gpus", at(environment, "conditions", "gpus"));
  if (!gpus.is_array() || gpus.empty()) add("gpu", "none: " + value("conditions", "gpu_report"));
  for (const Json& gpu : gpus.is_array() ? gpus : Json::array()) {
    add("gpu", gpu_text(gpu));
    add("", fmt::format("throttling: {}; other processes: {}; MIG: {}",
                        value_text(gpu.value("throttle_reasons", Json())),
                        value_text(gpu.value("other_processes", Json())),
                        value_text(gpu.value("mig", Json()))));
  }
  if (gpus.is_array() && !gpus.empty()) {
    Json energy = during.value("gpu_energy_j", Json());
    add("energy", energy.is_null() ? value_text(energy)
                                   : value_text(energy) + " J on all GPUs, warm-up included");
    add("driver",
        fmt::format("{}, CUDA {}", value("software", "driver"), value("software", "cuda")));
  }
  add("source", source_text(environment));
  return lines;
}

}  // namespace fuseline
