// What the cache tests share: a folder of their own, keys and payloads, child processes.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "cache/entry.hpp"
#include "cache/folder.hpp"
#include "cache/store.hpp"

namespace fuseline::cache {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

inline constexpr std::uint64_t mega = 1 << 20;

class TestFolder {
 public:
  TestFolder() {
    std::string name = (fs::temp_directory_path() / "fuseline-cache-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) std::abort();
    path = name;
  }
  ~TestFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  fs::path entry(const Key& key) const {
    return path / (entry_name(key.text) + std::string(entry_suffix));
  }
  fs::path lock(const Key& key) const {
    return path / (entry_name(key.text) + std::string(lock_suffix));
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), {}));
  }

  fs::path path;
};

inline Bytes bytes_of(std::string_view text) {
  auto data = reinterpret_cast<const std::byte*>(text.data());
  return Bytes(data, data + text.size());
}

// Different at every place and for every seed, so that mixed or torn content cannot pass.
inline Bytes pattern(std::size_t size, std::uint64_t seed) {
  Bytes bytes(size);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (std::byte& byte : bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<std::byte>(state);
  }
  return bytes;
}

inline Bytes read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  return bytes_of(text);
}

// As an entry must be: readable and writable by its owner alone.
inline void write_file(const fs::path& path, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  out.close();
  ::chmod(path.c_str(), 0600);
}

inline void set_age(const fs::path& path, std::time_t seconds) {
  timespec times[2] = {{std::time(nullptr) - seconds, 0}, {std::time(nullptr) - seconds, 0}};
  if (::utimensat(AT_FDCWD, path.c_str(), times, 0) != 0) std::abort();
}

inline std::time_t age_of(const fs::path& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) std::abort();
  return std::time(nullptr) - info.st_mtim.tv_sec;
}

// Runs body in a forked child; the child's exit code is what body returns.
inline pid_t start_child(const std::function<int()>& body) {
  pid_t child = ::fork();
  if (child != 0) return child;
  int code = 99;
  try {
    code = body();
  } catch (...) {
  }
  ::_exit(code);
}

inline int exit_code(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

inline void pause_ms(long ms) {
  timespec time{ms / 1000, ms % 1000 * 1000000};
  ::nanosleep(&time, nullptr);
}

}  // namespace fuseline::cache
