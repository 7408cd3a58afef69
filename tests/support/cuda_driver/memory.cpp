// Memory of the simulated device.
#include "support/cuda_driver/memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace fuseline::standin {
namespace {

constexpr std::size_t page = 4096;
constexpr int first_byte = 0x7b;  // nothing may rely on zeros

std::size_t rounded(std::size_t bytes) { return (bytes + page - 1) / page * page; }
void* at(std::uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

Memory& Memory::all() {
  static auto* memory = new Memory;
  return *memory;
}

Memory::Memory() {
  void* range = mmap(nullptr, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) std::abort();
  base_ = next_ = reinterpret_cast<std::uint64_t>(range);
}

void Memory::open(std::uint64_t address, std::size_t bytes) {
  if (mprotect(at(address), rounded(bytes), PROT_READ | PROT_WRITE) != 0) std::abort();
  std::memset(at(address), first_byte, bytes);
  live_[address] = bytes;
}

// The host may not read it any more, either.
void Memory::close(std::uint64_t address) {
  std::size_t bytes = live_.at(address);
  madvise(at(address), rounded(bytes), MADV_DONTNEED);
  mprotect(at(address), rounded(bytes), PROT_NONE);
  live_.erase(address);
}

std::uint64_t Memory::allocate(std::size_t bytes) {
  if (bytes > limit_ || in_use_ > limit_ - bytes) return 0;
  std::uint64_t address = next_;
  next_ += rounded(bytes) + page;
  open(address, bytes);
  in_use_ += bytes;
  return address;
}

bool Memory::free(std::uint64_t address) {
  auto found = live_.find(address);
  if (found == live_.end()) return false;
  in_use_ -= found->second;
  close(address);
  return true;
}

std::uint64_t Memory::reserve(std::size_t bytes) {
  constexpr std::uint64_t alignment = std::uint64_t{1} << 21;
  std::uint64_t address = (next_ + alignment - 1) / alignment * alignment;
  if (bytes > base_ + span / 2 - address) return 0;
  next_ = address + rounded(bytes) + page;
  reserved_[address] = bytes;
  return address;
}

bool Memory::give_back(std::uint64_t address, std::size_t bytes) {
  auto found = reserved_.find(address);
  if (found == reserved_.end() || found->second != bytes || room_at(address) > 0) return false;
  reserved_.erase(found);
  return true;
}

bool Memory::take(std::size_t bytes) {
  if (bytes > limit_ || in_use_ > limit_ - bytes) return false;
  in_use_ += bytes;
  return true;
}

void Memory::drop(std::size_t bytes) { in_use_ -= bytes; }

bool Memory::is_reserved(std::uint64_t address, std::size_t bytes) const {
  auto range = reserved_.upper_bound(address);
  if (range == reserved_.begin()) return false;
  --range;
  return address + bytes <= range->first + range->second;
}

std::int64_t Memory::room_at(std::uint64_t address) const {
  auto found = live_.upper_bound(address);
  if (found == live_.begin()) return 0;
  --found;
  std::uint64_t end = found->first + found->second;
  if (address >= end) return 0;
  for (++found; found != live_.end() && found->first == end; ++found) end += found->second;
  return static_cast<std::int64_t>(end - address);
}

}  // namespace fuseline::standin
