// One lock for each key between processes (and between stores), freed by the kernel if we die.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "cache/descriptor.hpp"

namespace fuseline::cache {

// An flock on a file that its holder removes before letting go. A waiter that gets the lock checks
// that the path still names the file it locked and starts again otherwise; so only the holder
// removes the file and nobody can hold a lock that others do not see. The lock saves work and is
// not needed for safety (publishing is atomic): where it cannot be had, the caller goes on.
// A child forked without exec keeps the lock of a killed parent; others then wait for `patience`.
class KeyLock {
 public:
  KeyLock(std::filesystem::path path, std::chrono::milliseconds patience);
  ~KeyLock();
  KeyLock(const KeyLock&) = delete;
  KeyLock& operator=(const KeyLock&) = delete;

  bool held() const { return static_cast<bool>(file_); }
  bool timed_out() const { return timed_out_; }
  const std::string& problem() const { return problem_; }  // why it is not held

  // Removes the lock file of a process that died; false where it is in use or gone.
  static bool remove_if_free(const std::filesystem::path& path);

 private:
  enum class Attempt { locked, busy, replaced, failed };
  void acquire(std::chrono::milliseconds patience);
  Attempt attempt(Descriptor& file);

  std::filesystem::path path_;
  Descriptor file_;
  std::string problem_;
  bool timed_out_ = false;
};

}  // namespace fuseline::cache
