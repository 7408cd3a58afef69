// One simulated block.
#include "emit/cuda_c/host/block.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/fail.hpp"

namespace fuseline::host {
namespace {

constexpr int warp = 32;
thread_local BlockRunner* running = nullptr;

std::string fault_text(Fault kind, const char* name, std::int64_t index, std::int64_t count,
                       std::int64_t elements) {
  if (kind == misaligned)
    return fmt::format("accesses {} bytes at once at {}[{}], which is not aligned to them", count,
                       name, index);
  std::string range = count == 1 ? fmt::format("{}[{}]", name, index)
                                 : fmt::format("{}[{} .. {}]", name, index, index + count - 1);
  return fmt::format("accesses {} of {} elements", range, elements);
}

}  // namespace

std::size_t Order::below(std::size_t count) {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return static_cast<std::size_t>((state_ >> 11) % count);
}

BlockRunner::BlockRunner() { install_calls(); }

BlockRunner& BlockRunner::current() { return *running; }

void BlockRunner::install_calls() {
  host_.fault = [](Fault kind, const char* name, long long index, long long count,
                   long long elements) {
    current().stop(fault_text(kind, name, index, count, elements));
  };
  host_.wait_at_barrier = [](int line) { current().wait(State::at_barrier, line); };
  host_.warp_shuffle = [](void* value, int bytes, int distance, int line) {
    Thread& self = current().self();
    self.value = 0;
    self.distance = distance;
    std::memcpy(&self.value, value, static_cast<std::size_t>(bytes));
    current().wait(State::at_shuffle, line);
    std::memcpy(value, &self.value, static_cast<std::size_t>(bytes));
  };
  host_.warp_ballot = [](bool holds, int line) {
    Thread& self = current().self();
    self.value = holds;
    current().wait(State::at_ballot, line);
    return static_cast<int>(self.value);
  };
  host_.shared = [](const char* name, long long elements, int bytes, Poison poison) {
    return current().shared_.array(name, elements, bytes, poison);
  };
  host_.touch = [](const char* name, long long index, long long count, bool write, bool atomic) {
    BlockRunner& runner = current();
    for (long long i = index; i < index + count; ++i) {
      std::string fault = runner.shared_.touch(name, i, write, atomic, runner.host_.thread);
      if (!fault.empty()) runner.stop(std::move(fault));
    }
  };
}

void BlockRunner::start(int threads) {
  auto count = static_cast<std::size_t>(threads);
  fibers_.reserve(count);
  threads_.assign(count, {});
  ready_.clear();
  ready_at_ = 0;
  arrived_.assign(count / warp + 1, 0);
  at_barrier_ = 0;
  fault_.clear();
  shared_.begin_block();
  for (std::size_t i = 0; i < count; ++i) {
    threads_[i].runner = this;
    threads_[i].index = static_cast<int>(i);
    ready_.push_back(i);
    fibers_.prepare(i, &thread_body, &threads_[i]);
  }
}

void BlockRunner::thread_body(void* thread) {
  auto& self = *static_cast<Thread*>(thread);
  BlockRunner& runner = *self.runner;
  runner.entry_->call(runner.memory_, reinterpret_cast<const unsigned long long*>(runner.params_));
  self.state = State::done;
}

std::string BlockRunner::run(const Entry& entry, const Memory* memory, const std::uint64_t* params,
                             int threads, Order& order) {
  entry_ = &entry;
  memory_ = memory;
  params_ = params;
  start(threads);
  BlockRunner* outer = running;
  running = this;
  std::size_t left = threads_.size();
  while (ready_at_ < ready_.size() && fault_.empty()) {
    std::size_t i = next(order);
    host_.thread = static_cast<int>(i);
    fibers_.resume(i);
    if (threads_[i].state == State::done) --left;
  }
  running = outer;
  return fault_.empty() && left > 0 ? deadlock() : fault_;
}

std::size_t BlockRunner::next(Order& order) {
  if (!order.natural()) {
    std::size_t waiting = ready_.size() - ready_at_;
    std::swap(ready_[ready_at_], ready_[ready_at_ + order.below(waiting)]);
  }
  std::size_t i = ready_[ready_at_++];
  if (ready_at_ == ready_.size()) {
    ready_.clear();
    ready_at_ = 0;
  }
  return i;
}

// Leaves the thread for good: its stack is never resumed, so nothing on it may own memory.
void BlockRunner::stop(std::string&& fault) {
  fault_ = fmt::format("block {}, thread {}: {}", host_.block, host_.thread, fault);
  std::string().swap(fault);
  fibers_.suspend();
  fail_internal("a stopped thread was resumed");
}

void BlockRunner::wait(State state, int line) {
  Thread& thread = self();
  thread.state = state;
  thread.line = line;
  if (state == State::at_barrier)
    arrive_at_barrier(thread);
  else
    arrive_at_warp(thread);
  fibers_.suspend();
}

void BlockRunner::arrive_at_barrier(Thread& thread) {
  for (const Thread& other : threads_)
    if (other.state == State::at_barrier && other.line != thread.line)
      stop(fmt::format("waits at the barrier of line {}, thread {} at that of line {}", thread.line,
                       other.index, other.line));
  if (++at_barrier_ < static_cast<int>(threads_.size())) return;
  at_barrier_ = 0;
  shared_.pass_barrier();
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    threads_[i].state = State::ready;
    ready_.push_back(i);
  }
}

void BlockRunner::arrive_at_warp(Thread& thread) {
  std::size_t first = static_cast<std::size_t>(thread.index) / warp * warp;
  for (std::size_t i = first; i < first + warp && i < threads_.size(); ++i) {
    const Thread& other = threads_[i];
    bool waits = other.state == State::at_shuffle || other.state == State::at_ballot;
    if (waits && (other.state != thread.state || other.line != thread.line))
      stop(fmt::format("its warp stands at line {} and, with thread {}, at line {}", thread.line,
                       other.index, other.line));
  }
  if (++arrived_[first / warp] == warp) exchange(first);
}

// All lanes of the warp have arrived: each gets its value and goes on.
void BlockRunner::exchange(std::size_t first) {
  arrived_[first / warp] = 0;
  std::uint64_t given[warp], votes = 0;
  for (std::size_t l = 0; l < warp; ++l) {
    given[l] = threads_[first + l].value;
    votes += given[l];
  }
  for (std::size_t l = 0; l < warp; ++l) {
    Thread& lane = threads_[first + l];
    std::int64_t source = static_cast<std::int64_t>(l) + lane.distance;
    if (lane.state == State::at_ballot)
      lane.value = votes;
    else if (source >= 0 && source < warp)  // beyond the warp a lane keeps its own
      lane.value = given[source];
    lane.state = State::ready;
    ready_.push_back(first + l);
  }
}

std::string BlockRunner::deadlock() const {
  const Thread* waiting = nullptr;
  const Thread* other = nullptr;
  for (const Thread& t : threads_) {
    if (t.state != State::done && !waiting) waiting = &t;
    if (waiting && t.state != waiting->state) other = &t;
    if (!waiting && t.state == State::done) other = &t;
  }
  std::string text = fmt::format(
      "block {}: deadlock: thread {} waits at the {} of line {}", host_.block, waiting->index,
      waiting->state == State::at_barrier ? "barrier" : "warp operation", waiting->line);
  if (!other) return text;
  if (other->state == State::done) return text + fmt::format(", thread {} has ended", other->index);
  return text + fmt::format(", thread {} at line {}", other->index, other->line);
}

}  // namespace fuseline::host
