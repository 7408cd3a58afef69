// One test of Loop IR that every back end can run: a kernel, its memory before and after.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/half.hpp"
#include "fuse/loop_builder.hpp"
#include "fuse/loop_ops.hpp"

namespace fuseline::test {

using Bytes = std::vector<std::uint8_t>;

struct LoopCase {
  loop::Kernel kernel;
  std::vector<Bytes> before;  // of each global buffer, in the kernel's order
  std::vector<Bytes> after;   // empty: unchanged
  std::vector<std::uint64_t> params;
  std::int64_t blocks = 1;
  int ulps = 0;  // allowed distance of float results
};

// How many threads a block has and how many lanes a value.
struct Shape {
  int threads = 1;
  int lanes = 1;
};

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes out(values.size() * sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

template <class T>
T value_at(const Bytes& bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

// Elements as the bits of the type, zero-extended.
inline std::uint64_t bits_at(const Bytes& bytes, DType type, std::size_t i) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + i * size_of(type), size_of(type));
  return bits;
}
inline Bytes from_bits(DType type, const std::vector<std::uint64_t>& values) {
  Bytes out(values.size() * size_of(type));
  for (std::size_t i = 0; i < values.size(); ++i)
    std::memcpy(out.data() + i * size_of(type), &values[i], size_of(type));
  return out;
}

// The order of floats, with both zeros at 0.
inline std::int64_t ordinal(DType type, std::uint64_t bits) {
  std::uint64_t sign = std::uint64_t{1} << (8 * size_of(type) - 1);
  auto size = static_cast<std::int64_t>(bits & (sign - 1));
  return bits & sign ? -size : size;
}

inline bool is_nan(DType type, std::uint64_t bits) {
  switch (type) {
    case DType::f16:
      return (bits & 0x7fff) > 0x7c00;
    case DType::bf16:
      return (bits & 0x7fff) > 0x7f80;
    case DType::f32:
      return (bits & 0x7fffffff) > 0x7f800000;
    case DType::f64:
      return (bits & ~(std::uint64_t{1} << 63)) > 0x7ff0000000000000;
    default:
      return false;
  }
}

inline bool same(DType type, std::uint64_t a, std::uint64_t b, int ulps) {
  if (a == b) return true;
  if (is_nan(type, a) || is_nan(type, b)) return is_nan(type, a) && is_nan(type, b);
  if (!is_float(type) || ulps == 0) return false;
  std::int64_t distance = ordinal(type, a) - ordinal(type, b);
  return distance <= ulps && distance >= -ulps;
}

// Compares each global buffer; names the first element that differs.
inline ::testing::AssertionResult matches(const LoopCase& c, const std::vector<Bytes>& got) {
  std::size_t at = 0;
  for (const loop::Buffer& b : c.kernel.buffers) {
    if (b.space == loop::Space::shared) continue;
    const Bytes& want = c.after[at].empty() ? c.before[at] : c.after[at];
    for (std::size_t i = 0; i < want.size() / size_of(b.dtype); ++i) {
      std::uint64_t w = bits_at(want, b.dtype, i), g = bits_at(got[at], b.dtype, i);
      if (!same(b.dtype, g, w, c.ulps))
        return ::testing::AssertionFailure() << c.kernel.name << ": " << b.name << "[" << i
                                             << "] is " << std::hex << g << ", not " << w << "\n"
                                             << loop::to_text(c.kernel);
    }
    ++at;
  }
  return ::testing::AssertionSuccess();
}

// A kernel whose thread `i` of all threads handles the elements i * lanes ... + lanes - 1; the
// body gets the first of them. Elements are a multiple of threads * lanes.
class CaseBuilder {
 public:
  CaseBuilder(std::string name, Shape shape) : shape_(shape) {
    case_.kernel.name = std::move(name);
    case_.kernel.threads = shape.threads;
  }
  loop::Builder& builder() { return builder_; }
  const Shape& shape() const { return shape_; }

  int input(std::string name, DType type, Bytes data) {
    return add({std::move(name), type, false}, std::move(data), {});
  }
  int output(std::string name, DType type, Bytes expected) {
    Bytes before(expected.size(), 0x5a);
    return add({std::move(name), type, true}, std::move(before), std::move(expected));
  }
  int in_place(std::string name, DType type, Bytes before, Bytes expected) {
    return add({std::move(name), type, true}, std::move(before), std::move(expected));
  }
  loop::Id param(std::string name, DType type, std::uint64_t bits) {
    case_.params.push_back(bits);
    return builder_.param(builder_.add_param({std::move(name), type}));
  }

  // First element of this thread, i64.
  loop::Id first_element() {
    loop::Builder& b = builder_;
    loop::Id group = b.block_id();
    if (shape_.threads > 1)
      group = b.add(b.mul(group, b.integer(DType::i64, shape_.threads)),
                    b.cast(DType::i64, b.thread_id()));
    return b.mul(group, b.integer(DType::i64, shape_.lanes));
  }

  LoopCase finish(std::int64_t elements, int ulps = 0) {
    case_.blocks = elements / (shape_.threads * shape_.lanes);
    case_.ulps = ulps;
    return std::move(case_);
  }

 private:
  int add(loop::Buffer buffer, Bytes before, Bytes after) {
    case_.before.push_back(std::move(before));
    case_.after.push_back(std::move(after));
    return builder_.add_buffer(std::move(buffer));
  }

  LoopCase case_;
  Shape shape_;
  loop::Builder builder_{case_.kernel};
};

}  // namespace fuseline::test
