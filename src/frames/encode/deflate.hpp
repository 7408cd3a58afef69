// A zlib stream (RFC 1950, 1951) made of literals and runs only: what filtered pixels and masks
// are made of, at several times the speed of a compressor that searches for repeats.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fuseline {

class RunDeflate {
 public:
  // Appends one block with its own codes. The caller bounds its length: all of it is kept as
  // tokens meanwhile, at most 2 bytes for each byte. A stream ends with exactly one last block.
  void add(std::span<const std::uint8_t> block, bool last);

  // The stream so far; take what is there and clear it at will.
  std::vector<std::uint8_t>& bytes() { return bytes_; }

 private:
  void tokenize(std::span<const std::uint8_t> block);
  void put(std::uint64_t bits, unsigned count);
  void put_codes(std::span<const std::uint8_t> lengths);
  void put_tokens(std::span<const std::uint32_t> table);
  void put_trailer();

  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint16_t> storage_;     // grows to the longest block
  std::span<const std::uint16_t> tokens_;  // of this block, in storage_
  std::uint64_t pending_ = 0;              // bits that do not fill a byte yet
  unsigned pending_count_ = 0;
  std::uint32_t adler_ = 1;
  bool started_ = false;
};

// The checksum of RFC 1950, continued from `adler`; 1 begins a new one.
std::uint32_t adler32_of(std::uint32_t adler, std::span<const std::uint8_t> bytes);

}  // namespace fuseline
