// What a program's run does to memory and clocks, seen from outside.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>

#include "ledger/nvml.hpp"

namespace fuseline {

// Names of what is seen; a value that was not seen is absent.
namespace seen {
inline constexpr const char* start_bytes = "rss_start";  // of the process, when it began
inline constexpr const char* end_bytes = "rss_end";      // when it was seen last
inline constexpr const char* gpu_before_bytes = "gpu_memory_before";  // of all GPUs and programs
inline constexpr const char* gpu_peak_bytes = "gpu_memory_peak";
inline constexpr const char* gpu_after_bytes = "gpu_memory_after";
inline constexpr const char* cpu_mhz = "cpu_mhz";  // of the processor that ran it, on the mean
inline constexpr const char* gpu_mhz = "gpu_mhz";  // of the fastest GPU, if it took GPU memory
inline constexpr const char* kernel_alone_ms = "kernel_alone";  // many launches / their number
}  // namespace seen

class RunWatch {
 public:
  void begin();  // before the program starts
  void look(pid_t process);
  std::map<std::string, double> end();  // after its exit
  // The most memory that the process held, of what rusage tells, which counts this process's own
  // memory from before the start of the other program, and of what was seen. None where neither
  // tells.
  std::optional<double> peak_bytes(double of_rusage) const;

 private:
  struct Mean {
    double sum = 0;
    int count = 0;
  };
  void see_gpus();

  GpuWatch gpus_;
  std::map<std::string, double> values_;
  double high_water_ = 0;
  Mean cpu_clock_, gpu_clock_;
};

}  // namespace fuseline
