// The signal handler.
#include "cli/interrupt.hpp"

#include <atomic>
#include <csignal>

#include "fuseline/error.hpp"

namespace fuseline::cli {
namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the handler may not wait for a lock");

extern "C" void on_signal(int) { flag = true; }

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART | SA_RESETHAND;
  for (int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

bool interrupted() { return flag; }

void stop_if_interrupted() {
  if (interrupted()) throw Error("interrupted", ErrorKind::interrupted);
}

}  // namespace fuseline::cli
