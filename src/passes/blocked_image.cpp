// Padding, splitting and moving the axis of channels.
#include "passes/blocked_image.hpp"

namespace fuseline {
namespace {

Value in_blocks(Value x, std::int64_t block) {
  const Dims dims = x.dims();
  std::int64_t channels = dims[1].constant(), missing = (block - channels % block) % block;
  if (missing > 0) {
    Dims before(dims.size(), Dim(0)), after = before;
    after[1] = missing;
    x = pad(x, before, after);
  }
  Dims split = {dims[0], Dim((channels + missing) / block), Dim(block)};
  split.insert(split.end(), dims.begin() + 2, dims.end());
  std::vector<std::int64_t> perm = {0, 1};
  for (std::size_t k = 3; k < split.size(); ++k) perm.push_back(static_cast<std::int64_t>(k));
  perm.push_back(2);
  return transpose(reshape(x, split), perm);
}

}  // namespace

BlockedImage to_blocks(const Value& plain, std::int64_t block) {
  return {in_blocks(plain, block), block, plain.dims()[1].constant(), true, 0};
}

Value to_plain(const BlockedImage& image) {
  const Dims dims = image.value.dims();
  auto extra = static_cast<std::size_t>(image.extra);
  std::size_t lane = dims.size() - 1 - extra;
  std::vector<std::int64_t> perm = {0, 1, static_cast<std::int64_t>(lane)};
  Dims joined = {dims[0], dims[1] * dims[lane]};
  for (std::size_t k = 2; k < dims.size(); ++k) {
    if (k == lane) continue;
    perm.push_back(static_cast<std::int64_t>(k));
    joined.push_back(dims[k]);
  }
  Value plain = reshape(transpose(image.value, perm), joined);
  if (image.channels % image.block == 0) return plain;
  Dims sizes = joined;
  sizes[1] = image.channels;
  return slice(plain, Dims(joined.size(), Dim(0)), sizes);
}

BlockedImage cleaned(const BlockedImage& image) {
  Graph& graph = image.value.graph();
  Dims line(image.value.dims().size(), Dim(1));
  line[1] = image.value.dims()[1];
  line.back() = image.block;
  Value channel = iota(graph, line, 1, DType::i64) * image.block +
                  iota(graph, line, static_cast<int>(line.size()) - 1, DType::i64);
  Value zero = graph.constant(image.value.dtype(), 0.0);
  BlockedImage result = image;
  result.value = where(channel < image.channels, image.value, zero);
  result.clean = true;
  return result;
}

Value broadcast_operand(const Value& plain, std::size_t rank, std::int64_t channels,
                        std::int64_t block) {
  if (plain.dims().empty()) return plain;
  Dims dims(rank - plain.dims().size(), Dim(1));
  dims.insert(dims.end(), plain.dims().begin(), plain.dims().end());
  Value wide = dims == plain.dims() ? plain : reshape(plain, dims);
  if (dims[1] == Dim(channels) && channels > 1) return in_blocks(wide, block);
  dims.emplace_back(1);
  return reshape(wide, dims);
}

}  // namespace fuseline
