// Waiting for, checking and removing a lock file.
#include "cache/key_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/log.hpp"

namespace fuseline::cache {
namespace {

using Clock = std::chrono::steady_clock;

bool names_file(const std::filesystem::path& path, int fd) {
  struct stat at_path, open_file;
  return ::lstat(path.c_str(), &at_path) == 0 && ::fstat(fd, &open_file) == 0 &&
         at_path.st_ino == open_file.st_ino && at_path.st_dev == open_file.st_dev;
}

int try_flock(int fd) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

// Explicitly: closing alone would leave the lock with a copy of the descriptor in a forked child.
void unlock_and_remove(const std::filesystem::path& path, int fd) {
  if (names_file(path, fd)) ::unlink(path.c_str());
  ::flock(fd, LOCK_UN);
}

}  // namespace

KeyLock::KeyLock(std::filesystem::path path, std::chrono::milliseconds patience)
    : path_(std::move(path)) {
  acquire(patience);
}

KeyLock::~KeyLock() {
  if (held()) unlock_and_remove(path_, file_.get());
}

KeyLock::Attempt KeyLock::attempt(Descriptor& file) {
  if (!file) file = create_file(path_, O_RDWR);
  if (!file) {
    problem_ = fmt::format("{}: {}", path_.string(), errno_text(errno));
    return Attempt::failed;
  }
  int error = try_flock(file.get());
  if (error == EWOULDBLOCK) return Attempt::busy;
  if (error) {
    problem_ = fmt::format("locking {}: {}", path_.string(), errno_text(error));
    return Attempt::failed;
  }
  if (names_file(path_, file.get())) return Attempt::locked;
  (void)file.close();
  return Attempt::replaced;
}

// Polls, because a blocking flock could not give up; a wait ends at most 5 ms late.
void KeyLock::acquire(std::chrono::milliseconds patience) {
  const Clock::time_point start = Clock::now();
  std::chrono::microseconds pause(100);
  bool told = false;
  Descriptor file;
  for (;;) {
    Attempt result = attempt(file);
    if (result == Attempt::locked) file_ = std::move(file);
    if (result == Attempt::locked || result == Attempt::failed) return;
    Clock::duration waited = Clock::now() - start;
    if (waited >= patience) {
      problem_ = fmt::format("{}: held by another process for more than {} ms", path_.string(),
                             patience.count());
      timed_out_ = true;
      return;
    }
    if (result == Attempt::replaced) continue;
    if (!told && waited > std::chrono::seconds(1)) {
      log_info("code cache: waiting for another process that generates the same code");
      told = true;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 3 / 2, std::chrono::microseconds(5000));
  }
}

bool KeyLock::remove_if_free(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file || try_flock(file.get()) != 0) return false;
  bool ours = names_file(path, file.get());
  unlock_and_remove(path, file.get());
  return ours;
}

}  // namespace fuseline::cache
