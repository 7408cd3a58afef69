// libfuseline_onednn: contractions by oneDNN, opened when a graph has some.
#pragma once

#include "program/device.hpp"

namespace fuseline::cpu {

// A prepared call that computes in host memory.
class CpuCall : public PreparedCall {
 public:
  // Returns when the result is written. Thread-safe.
  virtual void run(std::span<void* const> buffers, int threads) const = 0;
};

class CallLibrary {
 public:
  virtual ~CallLibrary() = default;
  virtual std::vector<DType> types() const = 0;
  virtual std::string describe() const = 0;  // name, version, instructions
  // Thread-safe. `threads` is what run() will be given.
  virtual std::shared_ptr<const CpuCall> prepare(const CallRequest& request, int threads) = 0;
};

// The one C function of the library; nullptr where `abi` is another one.
inline constexpr std::uint32_t call_library_abi = 1;
extern "C" using OpenCallLibrary = CallLibrary * (std::uint32_t abi);
inline constexpr const char* open_call_library_symbol = "fuseline_open_call_library";

// Opened at the first call; nullptr, with a warning in the log, where it cannot be.
CallLibrary* call_library();

}  // namespace fuseline::cpu
