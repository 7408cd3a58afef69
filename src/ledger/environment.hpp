// The record of the machine and the source that a measurement belongs to.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace fuseline {

// A JSON object of four objects; null stands for "not measured", and no environment variable is
// ever stored:
//   hardware    cpu, processors, memory_bytes, gpus [names]: what must be equal to compare
//   software    system, kernel, driver, cuda: variables under test
//   source      commit, dirty: of the git checkout around the working directory
//   conditions  governor, affinity, cgroup_cpus, load, clock_mhz, gpus [...]: of the moment
Json read_environment();

// What the machine did while something was measured.
class ConditionsWatch {
 public:
  ConditionsWatch();
  // {"steal": share, "throttled": times, "cgroup_throttled_us": time, "gpu_energy_j": energy,
  // "gpus": [their state at the end]}; null where not measured.
  Json finish() const;

 private:
  Json begin_;
};

// Empty where two records are of the same hardware; else what differs, one text each:
// "cpu: A against B". Driver, libraries and commit do not count.
std::vector<std::string> different_hardware(const Json& a, const Json& b);

// "not measured" for null, else the value without quotes.
std::string value_text(const Json& value);
// Lines of at most 80 columns for the trust box.
std::vector<std::string> environment_lines(const Json& environment);

}  // namespace fuseline
