// What the stand-in driver offers to tests besides the functions of a CUDA driver.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cuda/driver_api.hpp"

namespace fuseline::standin {

// Does on simulated memory what a kernel does: its arguments, 8 bytes each, its blocks, and
// their threads.
// Returns what went wrong, nullptr where all went well.
using Body = const char*(void* user, const std::uint64_t* values, std::int64_t blocks, int threads);

// FUSELINE_STANDIN(result, name, parameters), each exported as standin_<name>. Calls are named as
// in cuda.h.
#define FUSELINE_STANDIN_CONTROLS(FUSELINE_STANDIN)                                                \
  /* No real device: all but compilation is simulated in host memory. */                           \
  FUSELINE_STANDIN(bool, simulated, ())                                                            \
  /* Every call of that name; nullptr: of all names. */                                            \
  FUSELINE_STANDIN(std::int64_t, calls, (const char* name))                                        \
  /* Those that were done, whatever they returned on request. */                                   \
  FUSELINE_STANDIN(std::int64_t, done, (const char* name))                                         \
  /* The nth call from now on (1: the next) of a name, or of all where it is nullptr, returns */   \
  /* `code`, and so do all behind it where `onwards`. Calls that free, wait or pop are done */     \
  /* all the same. nth 0: nothing fails. */                                                        \
  FUSELINE_STANDIN(void, fail_at, (const char* name, std::int64_t nth, int code, bool onwards))    \
  /* How many calls have failed since fail_at, and the name of the first. */                       \
  FUSELINE_STANDIN(std::int64_t, failed, ())                                                       \
  FUSELINE_STANDIN(const char*, failed_name, ())                                                   \
  /* Whether this thread is inside the driver: what it allocates there is not Fuseline's. */       \
  FUSELINE_STANDIN(bool, inside, ())                                                               \
  /* An address that no memory of the device has. */                                               \
  FUSELINE_STANDIN(std::uint64_t, wild_address, ())                                                \
  /* ---- of the simulated device only */                                                          \
  FUSELINE_STANDIN(void, describe,                                                                 \
                   (cuda::driver_api::Function function, std::size_t pointers, std::size_t values, \
                    standin::Body * body, void* user))                                             \
  /* Calls of the table that the simulation does not know, by name. */                             \
  FUSELINE_STANDIN(const char*, unknown_calls, ())                                                 \
  FUSELINE_STANDIN(std::size_t, memory_in_use, ())                                                 \
  /* 0: as much as at the start. */                                                                \
  FUSELINE_STANDIN(void, limit_memory, (std::size_t bytes))                                        \
  /* Bytes of live memory from an address on. */                                                   \
  FUSELINE_STANDIN(std::int64_t, room_at, (std::uint64_t address))                                 \
  /* Launches and copies that have been issued and not been waited for. */                         \
  FUSELINE_STANDIN(std::int64_t, pending, ())                                                      \
  /* Forgets it, as a device that is lost does; a real device is waited for. */                    \
  FUSELINE_STANDIN(void, drop_pending, ())                                                         \
  FUSELINE_STANDIN(std::int64_t, context_depth, ())                                                \
  /* As a caller's capture does: work for the stream is counted from then on, and not done. */     \
  FUSELINE_STANDIN(void, begin_capture, (cuda::driver_api::Stream stream))                         \
  FUSELINE_STANDIN(std::int64_t, end_capture, (cuda::driver_api::Stream stream))                   \
  /* What was done against the driver's rules, a line each; read once. */                          \
  FUSELINE_STANDIN(const char*, misuse, ())

}  // namespace fuseline::standin
