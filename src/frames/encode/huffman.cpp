// Huffman's algorithm on two sorted queues; codes that come out too long are flattened.
#include "frames/encode/huffman.hpp"

#include <algorithm>
#include <array>

#include "base/fail.hpp"

namespace fuseline {
namespace {

constexpr int most_symbols = 512;

struct Leaf {
  std::uint32_t weight;
  std::uint16_t symbol;
};

// Depths of the optimal tree over `leaves`, sorted by weight; returns the greatest depth.
int tree_depths(std::span<const Leaf> leaves, std::span<std::uint8_t> depths) {
  const std::size_t count = leaves.size();
  std::array<std::uint64_t, 2 * most_symbols> weight;
  std::array<std::uint16_t, 2 * most_symbols> parent;
  std::array<std::uint8_t, 2 * most_symbols> depth;
  for (std::size_t i = 0; i < count; ++i) weight[i] = leaves[i].weight;
  std::size_t leaf = 0, inner = count;
  const std::size_t root = 2 * count - 2;
  for (std::size_t node = count; node <= root; ++node) {
    auto lightest = [&] {
      bool take_leaf = leaf < count && (inner == node || weight[leaf] <= weight[inner]);
      return take_leaf ? leaf++ : inner++;
    };
    std::size_t a = lightest(), b = lightest();
    weight[node] = weight[a] + weight[b];
    parent[a] = parent[b] = static_cast<std::uint16_t>(node);
  }
  depth[root] = 0;
  for (std::size_t i = root; i-- > 0;)
    depth[i] = static_cast<std::uint8_t>(std::min(depth[parent[i]] + 1, 255));
  std::copy_n(depth.begin(), count, depths.begin());
  return *std::max_element(depths.begin(), depths.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace

void huffman_lengths(std::span<const std::uint32_t> frequencies, int longest,
                     std::span<std::uint8_t> lengths) {
  require(frequencies.size() <= most_symbols, "too many symbols for a Huffman code");
  std::array<Leaf, most_symbols> storage;
  std::size_t count = 0;
  std::fill(lengths.begin(), lengths.end(), std::uint8_t{0});
  for (std::size_t s = 0; s < frequencies.size(); ++s)
    if (frequencies[s]) storage[count++] = {frequencies[s], static_cast<std::uint16_t>(s)};
  std::span<Leaf> leaves(storage.data(), count);
  require(count <= std::size_t{1} << longest, "too many symbols for the longest code");
  if (count == 1) lengths[leaves[0].symbol] = 1;
  if (count < 2) return;
  std::array<std::uint8_t, most_symbols> depths;
  std::stable_sort(leaves.begin(), leaves.end(),
                   [](const Leaf& a, const Leaf& b) { return a.weight < b.weight; });
  // Halving the weights flattens the tree, in the end to equal weights and log2(count) levels.
  while (tree_depths(leaves, depths) > longest)
    for (Leaf& leaf : leaves) leaf.weight = leaf.weight / 2 + leaf.weight % 2;
  for (std::size_t i = 0; i < count; ++i) lengths[leaves[i].symbol] = depths[i];
}

void huffman_codes(std::span<const std::uint8_t> lengths, std::span<std::uint16_t> codes) {
  std::array<std::uint32_t, 16> counts{}, next{};
  for (std::uint8_t length : lengths)
    if (length) ++counts[length];
  for (std::size_t i = 1; i < next.size(); ++i) next[i] = (next[i - 1] + counts[i - 1]) << 1;
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    std::uint32_t code = lengths[s] ? next[lengths[s]]++ : 0;
    std::uint32_t reversed = 0;
    for (int i = 0; i < lengths[s]; ++i) reversed |= (code >> i & 1u) << (lengths[s] - 1 - i);
    codes[s] = static_cast<std::uint16_t>(reversed);
  }
}

}  // namespace fuseline
