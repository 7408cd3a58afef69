// One child process in a group of its own.
#include "ledger/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/descriptor.hpp"
#include "base/fail.hpp"
#include "ledger/stage_file.hpp"

namespace fuseline {
namespace {

// Takes what a program writes without a reader that would share the processor with it.
class Capture {
 public:
  Capture() : file_(::memfd_create("output", MFD_CLOEXEC)) {
    if (file_.get() < 0) fail("no memory for the program's output: {}", std::strerror(errno));
  }
  int descriptor() const { return file_.get(); }

  template <class Action>
  void read(Action action) const {
    char buffer[65536];
    off_t at = 0;
    for (ssize_t got; (got = ::pread(file_.get(), buffer, sizeof(buffer), at)) > 0; at += got)
      action(std::string_view(buffer, static_cast<std::size_t>(got)));
  }
  std::string text() const {
    std::string all;
    read([&](std::string_view part) { all += part; });
    return all;
  }
  // FNV-1a; only compared with itself within one session.
  std::uint64_t hash() const {
    std::uint64_t hash = 14695981039346656037u;
    read([&](std::string_view part) {
      for (char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    });
    return hash;
  }
  std::string last_line() const {
    std::string all = text();
    all.erase(all.find_last_not_of("\n\r ") + 1);
    return all.substr(all.find_last_of('\n') + 1);
  }

 private:
  Descriptor file_;
};

using Variables = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> environment_with(const Variables& variables) {
  std::vector<std::string> all;
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  for (char** one = environ; *one; ++one)
    if (std::none_of(variables.begin(), variables.end(), [&](const auto& variable) {
          return std::string_view(*one).starts_with(variable.first + "=");
        }))
      all.emplace_back(*one);
  return all;
}

// Ended by a null pointer, as exec takes them.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

class SpawnSetup {
 public:
  SpawnSetup(const Capture& out, const Capture& err) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, out.descriptor(), 1);
    posix_spawn_file_actions_adddup2(&actions_, err.descriptor(), 2);
    posix_spawnattr_init(&attributes_);
    // A group of its own, so that what it starts can be ended with it; signals as a shell leaves
    // them.
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&defaults, signal);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  pid_t start(const std::vector<std::string>& words, const Variables& variables) const {
    std::vector<std::string> copies = words, own = environment_with(variables);
    std::vector<char*> pointers = pointers_to(copies), values = pointers_to(own);
    pid_t child = -1;
    int problem = ::posix_spawnp(&child, pointers[0], &actions_, &attributes_, pointers.data(),
                                 values.data());
    if (problem) fail("{}: cannot be started: {}", words.front(), std::strerror(problem));
    return child;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

void end_group(pid_t child) {
  ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
}

// Waits until the child exits; throws behind ending it where that must not be awaited.
void await_exit(pid_t child, Nanoseconds begin, const std::vector<std::string>& words,
                const ProcessOptions& options) {
  constexpr int longest_step_ms = 50;
  constexpr int first_step_ms = 4;
  int step_ms = options.look ? first_step_ms : longest_step_ms;
  Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (handle.get() < 0) {
    int problem = errno;
    end_group(child);
    fail("{}: cannot be watched: {}", words.front(), std::strerror(problem));
  }
  for (;; step_ms = std::min(2 * step_ms, longest_step_ms)) {
    if (options.look) options.look(child);
    pollfd event{handle.get(), POLLIN, 0};
    if (::poll(&event, 1, step_ms) > 0) return;
    if (options.interrupted && options.interrupted()) {
      end_group(child);
      throw Error("interrupted", ErrorKind::interrupted);
    }
    double seconds = static_cast<double>(monotonic_now() - begin) / 1e9;
    if (options.timeout_seconds > 0 && seconds > options.timeout_seconds) {
      end_group(child);
      fail("{}: still running after {:.3g} s; ended (--timeout allows more)", words.front(),
           options.timeout_seconds);
    }
  }
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

ProcessRun run_process(const std::vector<std::string>& words, const ProcessOptions& options) {
  require(!words.empty(), "a process without words");
  Capture out, err;
  SpawnSetup setup(out, err);
  ProcessRun run;
  run.begin = monotonic_now();
  pid_t child = setup.start(words, options.environment);
  await_exit(child, run.begin, words, options);
  run.end = monotonic_now();
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0)
    if (errno != EINTR) fail("{}: its end was not seen: {}", words.front(), std::strerror(errno));
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.user_seconds = seconds_of(usage.ru_utime);
  run.system_seconds = seconds_of(usage.ru_stime);
  run.peak_bytes = std::int64_t{usage.ru_maxrss} * 1024;
  run.output_hash = out.hash();
  if (options.keep_output) run.output = out.text();
  run.last_error_line = err.last_line();
  return run;
}

std::optional<std::string> output_of(const std::vector<std::string>& words) {
  try {
    ProcessRun run =
        run_process(words, {.timeout_seconds = 10, .keep_output = true, .interrupted = {}});
    if (run.exit_code == 0) return run.output;
  } catch (const Error&) {
    // Missing or hanging: the caller tells that it was not measured.
  }
  return std::nullopt;
}

}  // namespace fuseline
