// The cache of generated code on disk: complete keys, checked entries, one compiler for a key.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fuseline::cache {

// Every input that decides the bytes: full source, options, target, versions of compiler and
// generator. Stored in the entry and compared in full.
struct Key {
  std::string text;
};

struct Result {
  std::vector<std::byte> payload;
  bool hit;  // not made by this call: read from disk, or made by another thread meanwhile
  // A hit: until the payload was there, waiting included. A miss: make() alone.
  std::chrono::nanoseconds load_or_make_time;
};

struct Stats {
  std::filesystem::path path;  // empty where nothing is kept on disk
  std::string why_off;         // the reason then
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t budget = 0;
  std::uint64_t hits = 0;  // these three: of this process
  std::uint64_t misses = 0;
  std::uint64_t rejected = 0;  // entries found but not believed, among the misses
};

// Any number of threads and processes may use one folder. Trouble with the disk makes misses and
// a line in the log, never an error: the caller compiles.
class Store {
 public:
  using Make = std::function<std::vector<std::byte>()>;

  // An empty folder: nothing is read or written, for the reason given.
  explicit Store(std::filesystem::path folder, std::uint64_t byte_budget, std::string why_off = {});
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // The one of this user, where the environment variables say (base/env.def).
  static Store& user();
  // Measured choices, beside it: what was chosen and what the others took.
  static Store& choices();

  std::optional<std::vector<std::byte>> load(const Key& key);
  void publish(const Key& key, std::span<const std::byte> payload);

  // At most one caller, of all threads and processes, makes a key at a time; the others wait for
  // it. If it fails or dies, the next one makes. No lock but that of the key is held during
  // make(), so it may ask for other keys as long as no key needs itself (that is refused within
  // one thread). A process that does not finish is waited for two minutes, not for ever.
  Result get_or_make(const Key& key, const Make& make);

  Stats stats() const;
  // Removes the entries and leftovers, nothing else in the folder; returns the bytes freed.
  std::uint64_t clear();

 private:
  struct Flight;
  class FlightEnd;

  bool on_disk() const { return !folder_.empty(); }
  std::optional<std::vector<std::byte>> look(const Key& key, const std::string& name);
  std::shared_ptr<Flight> join_flight(const Key& key, bool& mine);
  void wait_for(Flight& flight);
  Result make_alone(const Key& key, const std::string& name, const Make& make,
                    std::chrono::steady_clock::time_point start);
  Result make_and_publish(const Key& key, const std::string& name, const Make& make);
  Result count_hit(std::vector<std::byte> payload, std::chrono::steady_clock::time_point start);
  void publish_named(const Key& key, const std::string& name, std::span<const std::byte> payload);
  void keep_budget(const std::string& file_name, std::uint64_t bytes);
  void note_trouble(const std::string& what);

  const std::filesystem::path folder_;
  const std::uint64_t budget_;
  const std::string why_off_;
  std::atomic<std::uint64_t> hits_{0}, misses_{0}, rejected_{0};
  std::atomic<bool> trouble_told_{false};

  std::mutex flights_mutex_;  // guards flights_ and what the flights hold
  std::map<std::string, std::shared_ptr<Flight>> flights_;

  std::mutex usage_mutex_;  // guards these two, and lets one thread sweep at a time
  std::uint64_t known_bytes_ = 0;
  std::uint64_t bytes_until_scan_ = 0;
};

}  // namespace fuseline::cache
