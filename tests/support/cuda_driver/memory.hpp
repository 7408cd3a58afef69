// Memory of the simulated device: a range of addresses that nothing else has, never used twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace fuseline::standin {

class Memory {
 public:
  static Memory& all();

  // 0 where the limit is exceeded.
  std::uint64_t allocate(std::size_t bytes);
  bool free(std::uint64_t address);

  // Address ranges, and pieces of memory that are mapped into them.
  std::uint64_t reserve(std::size_t bytes);
  bool give_back(std::uint64_t address, std::size_t bytes);
  bool take(std::size_t bytes);  // counts memory that is not mapped yet; false above the limit
  void drop(std::size_t bytes);
  bool is_reserved(std::uint64_t address, std::size_t bytes) const;
  void open(std::uint64_t address, std::size_t bytes);
  void close(std::uint64_t address);

  // Bytes of live memory from there on.
  std::int64_t room_at(std::uint64_t address) const;
  bool owns(std::uint64_t address) const { return address >= base_ && address < base_ + span; }
  std::uint64_t wild_address() const { return base_ + span - (std::uint64_t{1} << 20); }
  std::size_t in_use() const { return in_use_; }
  std::size_t limit() const { return limit_; }
  // 0: as at the start.
  void set_limit(std::size_t bytes) { limit_ = bytes > 0 ? bytes : usual_limit; }

 private:
  static constexpr std::uint64_t span = std::uint64_t{1} << 43;
  static constexpr std::size_t usual_limit = std::size_t{1} << 28;
  Memory();

  std::uint64_t base_ = 0, next_ = 0;
  std::size_t in_use_ = 0, limit_ = usual_limit;
  std::map<std::uint64_t, std::size_t> live_;      // usable bytes by their address
  std::map<std::uint64_t, std::size_t> reserved_;  // ranges of addresses
};

}  // namespace fuseline::standin
