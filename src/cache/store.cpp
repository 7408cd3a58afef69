// Lookup, publishing and single flight.
#include "cache/store.hpp"

#include <condition_variable>
#include <thread>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "cache/descriptor.hpp"
#include "cache/entry.hpp"
#include "cache/folder.hpp"
#include "cache/key_lock.hpp"
#include "cache/settings.hpp"

namespace fuseline::cache {
namespace {

using Clock = std::chrono::steady_clock;

// Longer than any compilation, shorter than a user's patience with a stopped process.
constexpr std::chrono::milliseconds lock_patience = std::chrono::minutes(2);
// Other processes publish too: look at the folder whenever we wrote this share of the budget.
constexpr std::uint64_t scans_per_budget = 16;

std::string file_name(const std::string& name, std::string_view suffix) {
  return name + std::string(suffix);
}

}  // namespace

// One key being made by one thread of this process.
struct Store::Flight {
  std::thread::id owner = std::this_thread::get_id();
  int waiting = 0;
  bool ended = false;
  std::optional<std::vector<std::byte>> payload;  // none where make() failed
  std::condition_variable end;
};

// Ends the flight on every way out, and gives the payload to those who wait.
class Store::FlightEnd {
 public:
  FlightEnd(Store& store, const Key& key) : store_(store), key_(key) {}
  FlightEnd(const FlightEnd&) = delete;
  FlightEnd& operator=(const FlightEnd&) = delete;
  ~FlightEnd() {
    std::lock_guard lock(store_.flights_mutex_);
    if (!ended_) end();
  }

  void deliver(const std::vector<std::byte>& payload) {
    std::lock_guard lock(store_.flights_mutex_);
    Flight& flight = *store_.flights_.at(key_.text);
    if (flight.waiting) flight.payload = payload;
    end();
  }

 private:
  void end() {
    auto place = store_.flights_.find(key_.text);
    place->second->ended = true;
    place->second->end.notify_all();
    store_.flights_.erase(place);
    ended_ = true;
  }

  Store& store_;
  const Key& key_;
  bool ended_ = false;
};

Store::Store(std::filesystem::path folder, std::uint64_t byte_budget, std::string why_off)
    : folder_(std::move(folder)), budget_(byte_budget), why_off_(std::move(why_off)) {}
Store::~Store() = default;

Store& Store::user() {
  static const Settings settings = [] {
    Settings found = user_settings();
    if (found.folder.empty() && !found.asked_off)
      log_warn("no cache of generated code: {}", found.why_off);
    return found;
  }();
  static Store store(settings.folder, settings.budget, settings.why_off);
  return store;
}

Store& Store::choices() {
  constexpr std::uint64_t budget = 16 << 20;
  const Stats code = user().stats();
  static Store store(code.path.empty() ? code.path : code.path / "choices", budget, code.why_off);
  return store;
}

void Store::note_trouble(const std::string& what) {
  if (trouble_told_.exchange(true))
    log_debug("code cache: {}", what);
  else
    log_warn("code cache: {}; what is not found there is generated anew (told once)", what);
}

std::optional<std::vector<std::byte>> Store::look(const Key& key, const std::string& name) {
  if (!on_disk()) return std::nullopt;
  std::filesystem::path path = folder_ / file_name(name, entry_suffix);
  EntryRead read = read_entry(path, key.text);
  if (read.state == ReadState::found) return std::move(read.payload);
  if (read.state == ReadState::unreadable) note_trouble(path.string() + ": " + read.reason);
  if (read.state == ReadState::rejected) {
    ++rejected_;
    log_warn("code cache: {} is not used: {}", path.string(), read.reason);
  }
  return std::nullopt;
}

std::optional<std::vector<std::byte>> Store::load(const Key& key) {
  auto payload = look(key, entry_name(key.text));
  ++(payload ? hits_ : misses_);
  return payload;
}

void Store::publish(const Key& key, std::span<const std::byte> payload) {
  publish_named(key, entry_name(key.text), payload);
}

void Store::publish_named(const Key& key, const std::string& name,
                          std::span<const std::byte> payload) {
  if (!on_disk()) return;
  std::uint64_t bytes = sizeof(EntryHeader) + key.text.size() + payload.size();
  if (bytes > budget_ || bytes > max_entry_bytes) {
    log_info("code cache: an entry of {} bytes is not kept, the budget is {}", bytes, budget_);
    return;
  }
  std::string file = file_name(name, entry_suffix);
  std::string problem = publish_file(folder_, file, encode_entry(key.text, payload));
  if (problem.empty())
    keep_budget(file, bytes);
  else
    note_trouble(problem);
}

void Store::keep_budget(const std::string& file, std::uint64_t bytes) {
  std::lock_guard lock(usage_mutex_);
  known_bytes_ += bytes;
  if (bytes <= bytes_until_scan_ && known_bytes_ <= budget_) {
    bytes_until_scan_ -= bytes;
    return;
  }
  known_bytes_ = sweep(folder_, budget_, file);
  bytes_until_scan_ = budget_ / scans_per_budget;
}

std::shared_ptr<Store::Flight> Store::join_flight(const Key& key, bool& mine) {
  std::lock_guard lock(flights_mutex_);
  std::shared_ptr<Flight>& flight = flights_[key.text];
  mine = !flight;
  if (mine) flight = std::make_shared<Flight>();
  require(mine || flight->owner != std::this_thread::get_id(),
          "generated code does not depend on itself");
  if (!mine) ++flight->waiting;
  return flight;
}

// What an ended flight holds does not change any more, so it is read without the mutex.
void Store::wait_for(Flight& flight) {
  std::unique_lock lock(flights_mutex_);
  flight.end.wait(lock, [&] { return flight.ended; });
}

Result Store::count_hit(std::vector<std::byte> payload, Clock::time_point start) {
  ++hits_;
  return {std::move(payload), true, Clock::now() - start};
}

Result Store::get_or_make(const Key& key, const Make& make) {
  const Clock::time_point start = Clock::now();
  const std::string name = entry_name(key.text);
  if (auto payload = look(key, name)) return count_hit(std::move(*payload), start);
  for (;;) {
    bool mine = false;
    std::shared_ptr<Flight> flight = join_flight(key, mine);
    if (mine) return make_alone(key, name, make, start);
    wait_for(*flight);
    if (flight->payload) return count_hit(*flight->payload, start);
  }
}

Result Store::make_alone(const Key& key, const std::string& name, const Make& make,
                         Clock::time_point start) {
  FlightEnd end(*this, key);
  std::optional<KeyLock> lock;
  if (on_disk()) {
    lock.emplace(folder_ / file_name(name, lock_suffix), lock_patience);
    if (lock->timed_out())
      log_warn("code cache: {}; not waiting any longer", lock->problem());
    else if (!lock->held())
      note_trouble(lock->problem());
    // Whoever held the lock, or flew before us, may have published.
    EntryRead read = read_entry(folder_ / file_name(name, entry_suffix), key.text);
    if (read.state == ReadState::found) {
      end.deliver(read.payload);
      return count_hit(std::move(read.payload), start);
    }
  }
  Result result = make_and_publish(key, name, make);
  end.deliver(result.payload);
  return result;
}

Result Store::make_and_publish(const Key& key, const std::string& name, const Make& make) {
  ++misses_;
  const Clock::time_point start = Clock::now();
  Result result{make(), false, {}};
  result.load_or_make_time = Clock::now() - start;
  publish_named(key, name, result.payload);
  return result;
}

Stats Store::stats() const {
  Stats stats{folder_, why_off_, 0, 0, budget_, hits_, misses_, rejected_};
  if (!on_disk()) return stats;
  int error = 0;
  Usage usage = usage_of(list_own_files(folder_, error));
  if (error) fail("code cache: cannot list {}: {}", folder_.string(), errno_text(error));
  stats.entries = usage.entries;
  stats.bytes = usage.bytes;
  return stats;
}

std::uint64_t Store::clear() {
  if (!on_disk()) return 0;
  std::lock_guard lock(usage_mutex_);
  bytes_until_scan_ = 0;
  return clear_folder(folder_);
}

}  // namespace fuseline::cache
