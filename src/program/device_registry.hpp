// Opening devices by name; the back ends are libraries beside libfuseline, opened at run time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "program/device.hpp"

namespace fuseline {

// "auto" (CUDA where it opens, else the CPU), "cpu", "cuda", "cuda:1". Opened once and kept; a
// failure is kept with its reason. Thread-safe. Errors are of the kind `device`.
Device& open_device(std::string_view name);

// One row for each back end, for `fuseline info`.
struct DeviceStatus {
  std::string name;  // "cpu", "cuda"
  bool available;
  std::string detail;                // what it is, or why it cannot be used
  std::vector<std::string> remarks;  // libraries in use, and what can surprise
};
std::vector<DeviceStatus> device_status();

}  // namespace fuseline
