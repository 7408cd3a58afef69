// Fibers: each thread of a simulated block has a stack of its own and gives way by hand.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace fuseline::host {

// A stack to switch to; the host's own stack is one as well.
struct Fiber;

class FiberPool {
 public:
  FiberPool();
  ~FiberPool();
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;

  // Fibers 0 .. count - 1 exist afterwards.
  void reserve(std::size_t count);
  // The next resume of this fiber calls body(argument). Whatever ran on it before is forgotten.
  void prepare(std::size_t index, void (*body)(void*), void* argument);
  // Runs the fiber until it suspends or its body returns. Called on the host's stack only.
  void resume(std::size_t index);
  // Back to resume. Called on a fiber only.
  void suspend();

 private:
  static void entry();

  std::unique_ptr<Fiber> host_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* current_ = nullptr;
};

}  // namespace fuseline::host
