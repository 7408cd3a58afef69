// Literals and distance-1 matches under dynamic Huffman codes.
#include "frames/encode/deflate.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "frames/encode/huffman.hpp"
#include "frames/encode/words.hpp"

namespace fuseline {
namespace {

// A token below 256 is a literal; from there on a run of token - run_token + 3 more bytes.
constexpr unsigned run_token = 256;
constexpr std::size_t shortest_run = 3;
constexpr std::size_t longest_run = 258;
constexpr unsigned token_kinds = run_token + longest_run - shortest_run + 1;

constexpr unsigned end_symbol = 256;
constexpr unsigned symbols = 286;
constexpr int longest_code = 15;

struct RunCode {
  std::uint16_t symbol;
  std::uint8_t extra_bits;
  std::uint8_t extra;
};

// RFC 1951, 3.2.5: lengths 3..10 have a symbol each, then every four symbols double the step.
constexpr RunCode run_code(unsigned length) {
  if (length == longest_run) return {285, 0, 0};
  unsigned offset = length - 3;
  if (offset < 8) return {static_cast<std::uint16_t>(257 + offset), 0, 0};
  unsigned bits = static_cast<unsigned>(std::bit_width(offset)) - 3;
  unsigned symbol = 257 + 4 * bits + (offset >> bits);
  return {static_cast<std::uint16_t>(symbol), static_cast<std::uint8_t>(bits),
          static_cast<std::uint8_t>(offset & ((1u << bits) - 1))};
}

// Bit i: byte `at + i` differs from the one before it. Both are read for i < 64.
std::uint64_t changes_in(const std::uint8_t* at) {
  std::uint64_t changes = 0;
  for (int i = 0; i < 8; ++i) {
    std::uint64_t difference = load_little(at + 8 * i) ^ load_little(at + 8 * i - 1);
    changes |= static_cast<std::uint64_t>(nonzero_bytes(difference)) << (8 * i);
  }
  return changes;
}

// The literal of a run of `length` equal bytes and what repeats it. Short runs, the bulk, are
// written without a branch on their length, which nobody could predict.
std::uint16_t* put_run(std::uint16_t* to, std::uint8_t value, std::size_t length) {
  std::size_t repeats = length - 1;
  *to = value;
  while (repeats > longest_run) {
    *++to = run_token + longest_run - shortest_run;
    repeats -= longest_run;
  }
  bool matched = repeats >= shortest_run;
  to[1] = matched ? static_cast<std::uint16_t>(run_token + repeats - shortest_run) : value;
  to[2] = value;
  return to + (matched ? 2 : 1 + repeats);
}

std::array<std::uint32_t, symbols> symbol_counts(std::span<const std::uint16_t> tokens) {
  // Two tables in turn: equal neighbours would wait for each other's store.
  std::array<std::array<std::uint32_t, token_kinds>, 2> counts{};
  for (std::size_t i = 0; i < tokens.size(); ++i) ++counts[i % 2][tokens[i]];
  std::array<std::uint32_t, symbols> result{};
  for (unsigned t = 0; t < token_kinds; ++t) {
    unsigned symbol = t < run_token ? t : run_code(t - run_token + 3).symbol;
    result[symbol] += counts[0][t] + counts[1][t];
  }
  result[end_symbol] = 1;
  return result;
}

// Bits of every token in the low 27 bits, their number above: one lookup writes a whole token.
constexpr unsigned count_shift = 27;

std::array<std::uint32_t, token_kinds> token_table(std::span<const std::uint8_t> lengths,
                                                   std::span<const std::uint16_t> codes) {
  std::array<std::uint32_t, token_kinds> table{};
  for (unsigned t = 0; t < run_token; ++t)
    table[t] = codes[t] | static_cast<std::uint32_t>(lengths[t]) << count_shift;
  for (unsigned t = run_token; t < token_kinds; ++t) {
    RunCode run = run_code(t - run_token + 3);
    unsigned length = lengths[run.symbol];
    std::uint32_t bits = codes[run.symbol] | static_cast<std::uint32_t>(run.extra) << length;
    constexpr unsigned distance_bits = 1;  // the only distance code there is, a 0
    table[t] = bits | (length + run.extra_bits + distance_bits) << count_shift;
  }
  return table;
}

}  // namespace

void RunDeflate::add(std::span<const std::uint8_t> block, bool last) {
  if (!started_) bytes_.insert(bytes_.end(), {0x78, 0x01});
  started_ = true;
  adler_ = adler32_of(adler_, block);
  tokenize(block);
  std::array<std::uint8_t, symbols> lengths;
  std::array<std::uint16_t, symbols> codes;
  huffman_lengths(symbol_counts(tokens_), longest_code, lengths);
  huffman_codes(lengths, codes);
  constexpr unsigned dynamic_codes = 2;
  put(last ? 1 : 0, 1);
  put(dynamic_codes, 2);
  put_codes(lengths);
  put_tokens(token_table(lengths, codes));
  put(codes[end_symbol], lengths[end_symbol]);
  if (last) put_trailer();
}

void RunDeflate::tokenize(std::span<const std::uint8_t> block) {
  constexpr std::size_t spare = 2;  // put_run() writes ahead
  if (storage_.size() < block.size() + spare) storage_.resize(block.size() + spare);
  std::uint16_t* token = storage_.data();
  const std::uint8_t* bytes = block.data();
  const std::size_t size = block.size();
  std::size_t start = 0;  // of the current run
  auto end_run = [&](std::size_t end) {
    token = put_run(token, bytes[start], end - start);
    start = end;
  };
  std::size_t i = 1;
  for (; i + 64 <= size; i += 64)
    for (std::uint64_t changes = changes_in(bytes + i); changes; changes &= changes - 1)
      end_run(i + static_cast<std::size_t>(std::countr_zero(changes)));
  for (; i < size; ++i)
    if (bytes[i] != bytes[i - 1]) end_run(i);
  if (size > 0) end_run(size);
  tokens_ = {storage_.data(), token};
}

void RunDeflate::put(std::uint64_t bits, unsigned count) {
  pending_ |= bits << pending_count_;
  pending_count_ += count;
  for (; pending_count_ >= 8; pending_count_ -= 8, pending_ >>= 8)
    bytes_.push_back(static_cast<std::uint8_t>(pending_));
}

// RFC 1951, 3.2.7. The code lengths of a block are themselves written as symbols: a length, or
// 17 and 18 for long rows of zeros.
void RunDeflate::put_codes(std::span<const std::uint8_t> lengths) {
  struct Item {
    std::uint8_t symbol;
    std::uint8_t extra;
  };
  std::array<Item, symbols + 1> items;
  std::size_t count = 0;
  for (std::size_t i = 0; i < lengths.size();) {
    std::size_t zeros = 0;
    while (i + zeros < lengths.size() && lengths[i + zeros] == 0 && zeros < 138) ++zeros;
    std::size_t taken = zeros >= 3 ? zeros : 1;
    if (zeros >= 11)
      items[count++] = {18, static_cast<std::uint8_t>(zeros - 11)};
    else if (zeros >= 3)
      items[count++] = {17, static_cast<std::uint8_t>(zeros - 3)};
    else
      items[count++] = {lengths[i], 0};
    i += taken;
  }
  items[count++] = {1, 0};  // the length of the one distance code

  std::array<std::uint32_t, 19> frequencies{};
  for (std::size_t i = 0; i < count; ++i) ++frequencies[items[i].symbol];
  std::array<std::uint8_t, 19> code_lengths;
  std::array<std::uint16_t, 19> codes;
  huffman_lengths(frequencies, 7, code_lengths);
  huffman_codes(code_lengths, codes);

  constexpr std::array<std::uint8_t, 19> order = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                  11, 4,  12, 3, 13, 2, 14, 1, 15};
  put(symbols - 257, 5);
  put(0, 5);  // one distance code
  put(order.size() - 4, 4);
  for (std::uint8_t symbol : order) put(code_lengths[symbol], 3);
  for (std::size_t i = 0; i < count; ++i) {
    put(codes[items[i].symbol], code_lengths[items[i].symbol]);
    if (items[i].symbol == 17) put(items[i].extra, 3);
    if (items[i].symbol == 18) put(items[i].extra, 7);
  }
}

void RunDeflate::put_tokens(std::span<const std::uint32_t> table) {
  std::uint64_t bits = 8;  // room for the last store
  for (std::uint16_t token : tokens_) bits += table[token] >> count_shift;
  const std::size_t used = bytes_.size();
  bytes_.resize(used + (bits + pending_count_) / 8 + 8);
  std::uint8_t* to = bytes_.data() + used;
  std::uint64_t pending = pending_;
  unsigned count = pending_count_;
  auto append = [&](std::uint16_t token) {
    std::uint32_t entry = table[token];
    pending |= static_cast<std::uint64_t>(entry & ((1u << count_shift) - 1)) << count;
    count += entry >> count_shift;
  };
  auto flush = [&] {
    store_little(to, pending);
    to += count / 8;
    pending >>= count / 8 * 8;
    count %= 8;
  };
  // Two tokens have at most 42 bits: they fit beside the 7 that may be left over.
  std::size_t i = 0;
  for (; i + 2 <= tokens_.size(); i += 2) {
    append(tokens_[i]);
    append(tokens_[i + 1]);
    flush();
  }
  if (i < tokens_.size()) append(tokens_[i]);
  flush();
  pending_ = pending;
  pending_count_ = count;
  bytes_.resize(static_cast<std::size_t>(to - bytes_.data()));
}

void RunDeflate::put_trailer() {
  if (pending_count_) put(0, 8 - pending_count_);
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes_.push_back(static_cast<std::uint8_t>(adler_ >> shift));
}

std::uint32_t adler32_of(std::uint32_t adler, std::span<const std::uint8_t> bytes) {
  constexpr std::uint32_t base = 65521;
  constexpr std::size_t chunk = 2048;  // keeps the weighted sum below 2^31
  std::uint64_t a = adler & 0xffff, b = adler >> 16;
  while (!bytes.empty()) {
    auto part = bytes.first(std::min(bytes.size(), chunk));
    auto count = static_cast<int>(part.size());
    int sum = 0, weighted = 0;
    for (int i = 0; i < count; ++i) sum += part[static_cast<std::size_t>(i)];
    // Products of 16-bit factors: the form that every vector unit multiplies and adds at once.
    for (int i = 0; i < count; ++i)
      weighted += static_cast<std::int16_t>(part[static_cast<std::size_t>(i)]) *
                  static_cast<std::int16_t>(count - i);
    b = (b + a * part.size() + static_cast<std::uint32_t>(weighted)) % base;
    a = (a + static_cast<std::uint32_t>(sum)) % base;
    bytes = bytes.subspan(part.size());
  }
  return static_cast<std::uint32_t>(b << 16 | a);
}

}  // namespace fuseline
