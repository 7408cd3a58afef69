// What NVIDIA's management library tells, where there is one; opened at run time, links nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fuseline {

// Whatever the library did not tell is absent, never zero.
struct GpuState {
  std::string name;
  std::string uuid;
  std::optional<unsigned> sm_clock_mhz, memory_clock_mhz;
  std::optional<unsigned> temperature_c;
  std::optional<double> power_w;
  std::optional<double> energy_j;  // since the driver was loaded
  std::optional<std::uint64_t> memory_used;
  std::optional<bool> mig;
  // Names of the reasons for a lowered clock; "idle" and "application clocks" are not slowdowns.
  std::optional<std::vector<std::string>> throttle_reasons;
  std::optional<unsigned> other_processes;  // that compute on it, without this one
};

struct GpuReport {
  std::optional<std::string> driver;
  std::optional<std::string> cuda;  // that the driver supports
  std::vector<GpuState> gpus;
  std::string why_none;  // set where there is no report
};

GpuReport read_gpus();

struct PcieLink {
  unsigned generation = 0, width = 0;
  double gb_per_s() const;  // each way, without the packets' heads
};

// One GPU, asked again and again while something is measured.
class GpuProbe {
 public:
  explicit GpuProbe(const std::string& bus_id);  // "0000:1b:00.0"
  ~GpuProbe();
  GpuProbe(const GpuProbe&) = delete;
  GpuProbe& operator=(const GpuProbe&) = delete;
  std::optional<unsigned> sm_clock_mhz() const;
  // The best that GPU and slot agree on; at rest the link may be slower.
  std::optional<PcieLink> link() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// All GPUs together, at one moment.
struct GpuUse {
  std::uint64_t memory_used = 0;
  std::optional<unsigned> sm_clock_mhz;  // the highest
};

// Keeps the library open, so that looking costs little.
class GpuWatch {
 public:
  GpuWatch();
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;
  // None where there is no GPU, or one that does not tell its memory.
  std::optional<GpuUse> look() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuseline
