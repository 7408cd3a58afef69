// Where a foreign kernel is executed: on the GPU, or by the host simulator.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "foreign/buffers.hpp"
#include "foreign/source_text.hpp"

namespace fuseline::foreign {

struct ForeignLaunch {
  Grid grid;
  LaunchWish wish;
  std::vector<int> sizes;   // the scalar arguments
  std::uint64_t order = 0;  // of blocks and threads, for the simulator
};

class Runner {
 public:
  virtual ~Runner() = default;
  virtual std::string name() const = 0;
  // Runs the kernel on the buffers. What went wrong, empty where it came to its end.
  virtual std::string run(std::vector<Buffer>& buffers, const ForeignLaunch& launch) = 0;
  // After a fault: whether another run is possible.
  virtual bool is_lost() const { return false; }
};

// Throws Error (device) without a C++ compiler, Error (input) with that compiler's messages where
// it rejects the text: it holds what only a GPU runs, or is wrong.
std::unique_ptr<Runner> make_host_runner(const std::string& text, const std::string& file,
                                         const Contract& contract, const LaunchWish& wish);

// The architecture of CUDA device `index`; 0 where there is none, and why in *reason.
int cuda_architecture(int index, std::string* reason);
// `image` is what NVRTC made. Throws Error (device).
std::unique_ptr<Runner> make_cuda_runner(const std::string& image, const Contract& contract,
                                         int index);

}  // namespace fuseline::foreign
