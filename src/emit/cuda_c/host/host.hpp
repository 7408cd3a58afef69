// Runs generated CUDA C without a GPU: the printed text, compiled by the system's C++ compiler
// behind the host prelude, in simulated blocks that check what a GPU would not tell.
//
// Found are: accesses outside a buffer, wide accesses at a misaligned address, barriers and warp
// operations that not all threads reach, shared memory that is read before it is written or that
// two threads touch with no barrier between. Blocks run one after the other, in an order that the
// seed decides, as it decides the order of the threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fuse/loop_ir.hpp"

namespace fuseline::host {

// One kernel to compile: the text of print_cuda_body, or one like it written by hand.
struct Source {
  std::string name;  // of the function in `body`
  std::string body;
  int threads = 1;
  std::vector<std::string> buffers;  // names of the pointer arguments, for messages
};
Source source_of(const loop::Kernel& kernel);

struct Span {
  void* data = nullptr;
  std::int64_t elements = 0;
};

struct CompileOptions {
  bool undefined_behavior = false;      // with the compiler's own checks: the first finding aborts
  bool text_of_user = false;            // a rejected text is an Error (input), not an InternalError
  std::vector<std::string> flags = {};  // more of the compiler's own, after ours
};

// Why nothing can be compiled on this machine; empty where it can.
std::string compiler_missing();

// Kernels compiled together, since one run of the compiler costs far more than one kernel.
class Kernels {
 public:
  // Throws Error (device) without a compiler, InternalError with its messages where it rejects
  // a text.
  explicit Kernels(std::vector<Source> sources, CompileOptions options = {});
  ~Kernels();
  Kernels(Kernels&&) noexcept;
  Kernels& operator=(Kernels&&) noexcept;

  // Runs kernel number `kernel` of the list. Returns the first fault, empty where all went well;
  // after a fault the buffers hold whatever had been written. Blocks of fewer threads than the
  // source's maximum where `threads` is not 0. Thread-safe; runs of one object follow one another.
  [[nodiscard]] std::string run(std::size_t kernel, std::span<const Span> buffers,
                                std::span<const std::uint64_t> params, std::int64_t blocks,
                                std::uint64_t seed = 0, int threads = 0) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fuseline::host
