// The exported functions: every driver call is counted, then forwarded to the real driver or to
// the simulated device; and the controls.
#include <utility>

#include "support/cuda_driver/calls.hpp"
#include "support/cuda_driver/control.hpp"
#include "support/cuda_driver/real.hpp"
#include "support/cuda_driver/simulated.hpp"

namespace fuseline::standin {
namespace {

bool is_simulated() { return !real_driver().usable; }

// The simulation's functions are found by the type of their first argument, so that a call which it
// lacks is "not supported" instead of an error of the compiler.
#define FUSELINE_STANDIN_ENTRY(member, symbol, name, parameters)                            \
  template <class Device, class Function>                                                   \
  struct member##_entry;                                                                    \
  template <class Device, class... Args>                                                    \
  struct member##_entry<Device, Result(Args...)> {                                          \
    static constexpr bool known = requires(Device d, Args... args) { symbol(d, args...); }; \
    static Result simulate(Args... args) {                                                  \
      std::lock_guard lock(SimulatedDevice::mutex());                                       \
      if constexpr (known)                                                                  \
        return symbol(Device(), args...);                                                   \
      else                                                                                  \
        return error_not_supported;                                                         \
    }                                                                                       \
    static Result call(Args... args) {                                                      \
      return Calls::all().pass(Call::member, [&] {                                          \
        return is_simulated() ? simulate(args...) : real_driver().member(args...);          \
      });                                                                                   \
    }                                                                                       \
  };
FUSELINE_DRIVER_SYMBOLS(FUSELINE_STANDIN_ENTRY)
#undef FUSELINE_STANDIN_ENTRY

std::string list_unknown() {
  std::string names;
#define FUSELINE_STANDIN_KNOWN(member, symbol, name, parameters) \
  if (!member##_entry<SimulatedDevice, cuda::driver_api::member##_fn>::known) names += #name " ";
  FUSELINE_DRIVER_SYMBOLS(FUSELINE_STANDIN_KNOWN)
#undef FUSELINE_STANDIN_KNOWN
  return names;
}

}  // namespace

// The table has types of parameters, not names, so the exported symbol cannot have a body of its
// own; it resolves to the entry when the library is opened.
#define FUSELINE_STANDIN_EXPORT(member, symbol, name, parameters)                             \
  extern "C" {                                                                                \
  static cuda::driver_api::member##_fn* resolve_##symbol() {                                  \
    return &member##_entry<SimulatedDevice, cuda::driver_api::member##_fn>::call;             \
  }                                                                                           \
  __attribute__((visibility("default"), ifunc("resolve_" #symbol))) Result symbol parameters; \
  }
namespace exported {
using namespace cuda::driver_api;
FUSELINE_DRIVER_SYMBOLS(FUSELINE_STANDIN_EXPORT)
}  // namespace exported
#undef FUSELINE_STANDIN_EXPORT

#define FUSELINE_STANDIN(result, name, parameters) \
  extern "C" __attribute__((visibility("default"))) result standin_##name parameters;
FUSELINE_STANDIN_CONTROLS(FUSELINE_STANDIN)
#undef FUSELINE_STANDIN

bool standin_simulated() { return is_simulated(); }
std::int64_t standin_calls(const char* name) { return Calls::all().calls(name); }
std::int64_t standin_done(const char* name) { return Calls::all().done(name); }
void standin_fail_at(const char* name, std::int64_t nth, int code, bool onwards) {
  Calls::all().fail_at(name, nth, code, onwards);
}
std::int64_t standin_failed() { return Calls::all().failed(); }
const char* standin_failed_name() { return Calls::all().failed_name(); }
bool standin_inside() { return Inside::depth() > 0; }
std::uint64_t standin_wild_address() {
  return is_simulated() ? Memory::all().wild_address() : 0x10000;
}

void standin_describe(Function function, std::size_t pointers, std::size_t values, Body* body,
                      void* user) {
  if (!is_simulated()) return;
  std::lock_guard lock(SimulatedDevice::mutex());
  describe_function(function, {pointers, values, body, user});
}

const char* standin_unknown_calls() {
  static const std::string names = list_unknown();
  return names.c_str();
}

std::size_t standin_memory_in_use() { return Memory::all().in_use(); }
void standin_limit_memory(std::size_t bytes) { Memory::all().set_limit(bytes); }
std::int64_t standin_room_at(std::uint64_t address) { return Memory::all().room_at(address); }

std::int64_t standin_pending() {
  std::lock_guard lock(SimulatedDevice::mutex());
  return pending_work();
}

void standin_drop_pending() {
  if (!is_simulated()) return wait_for_device();
  std::lock_guard lock(SimulatedDevice::mutex());
  drop_pending_work();
}

void standin_begin_capture(Stream stream) {
  std::lock_guard lock(SimulatedDevice::mutex());
  begin_capture(stream);
}
std::int64_t standin_end_capture(Stream stream) {
  std::lock_guard lock(SimulatedDevice::mutex());
  return end_capture(stream);
}

std::int64_t standin_context_depth() { return context_depth(); }

const char* standin_misuse() {
  static thread_local std::string text;
  std::lock_guard lock(SimulatedDevice::mutex());
  text = std::exchange(misuse_text(), {});
  return text.c_str();
}

}  // namespace fuseline::standin
