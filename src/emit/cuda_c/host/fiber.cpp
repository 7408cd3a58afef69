// Switching of stacks: a few instructions on x86-64, ucontext elsewhere.
#include "emit/cuda_c/host/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/fail.hpp"

#ifndef __x86_64__
#include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace fuseline::host {
namespace {

constexpr std::size_t stack_bytes = 128 * 1024;
thread_local FiberPool* running_pool = nullptr;

}  // namespace

struct Fiber {
  char* stack = nullptr;  // none: the host's own
  void (*body)(void*) = nullptr;
  void* argument = nullptr;
#ifdef __x86_64__
  void* sp = nullptr;
#else
  ucontext_t context;
#endif
  void* tsan = nullptr;
  const void* bottom = nullptr;  // as AddressSanitizer knows the stack
  std::size_t size = 0;

  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() {
    if (!stack) return;
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(tsan);
#endif
    munmap(stack, stack_bytes);
  }

  void allocate() {
    void* memory = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) fail("cannot get memory for a fiber: {}", std::strerror(errno));
    stack = static_cast<char*>(memory);
    bottom = stack;
    size = stack_bytes;
    // The lowest page traps an overflow.
    mprotect(stack, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_NONE);
#if defined(__SANITIZE_THREAD__)
    tsan = __tsan_create_fiber(0);
#endif
  }
};

#ifdef __x86_64__

// Saves what a call must keep, and continues on the other stack.
extern "C" void fuseline_switch_stack(void** save, void* load);
asm(R"(
.text
.globl fuseline_switch_stack
.hidden fuseline_switch_stack
.type fuseline_switch_stack, @function
fuseline_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size fuseline_switch_stack, .-fuseline_switch_stack
)");

#endif

namespace {

void switch_to(Fiber& from, Fiber& to) {
#if defined(__SANITIZE_ADDRESS__)
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, to.bottom, to.size);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(to.tsan, 0);
#endif
#ifdef __x86_64__
  fuseline_switch_stack(&from.sp, to.sp);
#else
  swapcontext(&from.context, &to.context);
#endif
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

}  // namespace

FiberPool::FiberPool() : host_(std::make_unique<Fiber>()) {}
FiberPool::~FiberPool() = default;

void FiberPool::reserve(std::size_t count) {
  while (fibers_.size() < count) {
    fibers_.push_back(std::make_unique<Fiber>());
    fibers_.back()->allocate();
  }
}

void FiberPool::prepare(std::size_t index, void (*body)(void*), void* argument) {
  Fiber& fiber = *fibers_[index];
  fiber.body = body;
  fiber.argument = argument;
#if defined(__SANITIZE_ADDRESS__)
  // A body that was stopped half-way left the marks of its variables behind.
  __asan_unpoison_memory_region(fiber.stack, stack_bytes);
#endif
#ifdef __x86_64__
  // As if entry had been called: six saved registers, its address, and 8 bytes beside a 16-byte
  // boundary as behind a call.
  auto* top = reinterpret_cast<std::uintptr_t*>(fiber.stack + stack_bytes) - 1;
  *--top = reinterpret_cast<std::uintptr_t>(&FiberPool::entry);
  for (int i = 0; i < 6; ++i) *--top = 0;
  fiber.sp = top;
#else
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack;
  fiber.context.uc_stack.ss_size = stack_bytes;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, &FiberPool::entry, 0);
#endif
}

void FiberPool::entry() {
  FiberPool& pool = *running_pool;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &pool.host_->bottom, &pool.host_->size);
#endif
  pool.current_->body(pool.current_->argument);
  pool.suspend();
  fail_internal("a fiber was resumed after its end");
}

void FiberPool::resume(std::size_t index) {
  FiberPool* outer = running_pool;
  running_pool = this;
  current_ = fibers_[index].get();
#if defined(__SANITIZE_THREAD__)
  host_->tsan = __tsan_get_current_fiber();
#endif
  switch_to(*host_, *current_);
  current_ = nullptr;
  running_pool = outer;
}

void FiberPool::suspend() { switch_to(*current_, *host_); }

}  // namespace fuseline::host
