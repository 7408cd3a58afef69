// Runs one block of a kernel on the host: a fiber a thread, real barriers, warps of 32 lanes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emit/cuda_c/host/fiber.hpp"
#include "emit/cuda_c/host/interface.hpp"
#include "emit/cuda_c/host/shared_memory.hpp"

namespace fuseline::host {

// The order in which threads run: 0 is their own order, every other seed another one.
class Order {
 public:
  explicit Order(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u) {}
  bool natural() const { return state_ == 0; }
  std::size_t below(std::size_t count);

 private:
  std::uint64_t state_;
};

class BlockRunner {
 public:
  BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  Host& host() { return host_; }
  // Runs block host().block to its end. The first fault found, empty where there is none.
  std::string run(const Entry& entry, const Memory* memory, const std::uint64_t* params,
                  int threads, Order& order);

 private:
  enum class State : std::uint8_t { ready, at_barrier, at_shuffle, at_ballot, done };
  struct Thread {
    BlockRunner* runner = nullptr;
    int index = 0;
    State state = State::ready;
    int line = 0;
    std::uint64_t value = 0;  // given to the warp, then received from it
    int distance = 0;
  };

  static void thread_body(void* thread);
  static BlockRunner& current();
  void install_calls();
  void start(int threads);
  std::size_t next(Order& order);
  [[noreturn]] void stop(std::string&& fault);
  void wait(State state, int line);
  void arrive_at_barrier(Thread& thread);
  void arrive_at_warp(Thread& thread);
  void exchange(std::size_t first);
  std::string deadlock() const;
  Thread& self() { return threads_[static_cast<std::size_t>(host_.thread)]; }

  Host host_ = {};
  FiberPool fibers_;
  SharedMemory shared_;
  std::vector<Thread> threads_;
  std::vector<std::size_t> ready_;
  std::size_t ready_at_ = 0;
  std::vector<int> arrived_;  // lanes of each warp that wait for the others
  int at_barrier_ = 0;
  std::string fault_;
  const Entry* entry_ = nullptr;
  const Memory* memory_ = nullptr;
  const std::uint64_t* params_ = nullptr;
};

}  // namespace fuseline::host
