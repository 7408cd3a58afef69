// Guarded memory.
#include "foreign/buffers.hpp"

#include <fmt/ranges.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/fail.hpp"
#include "graph/evaluate_source.hpp"

namespace fuseline::foreign {
namespace {

// Of neither 0 nor 255, and another one at every place.
std::byte pattern(std::size_t place) { return static_cast<std::byte>(0x51 + place * 7 % 61); }

std::string number_text(const std::byte* element, DType dtype) {
  Number x = load_number(reinterpret_cast<const char*>(element), dtype);
  if (is_float(dtype)) return fmt::format("{:.9g}", x.d);
  return is_signed_integer(dtype) ? fmt::format("{}", x.i) : fmt::format("{}", x.u);
}

std::string place_text(const std::string& name, const Shape& index) {
  return index.empty() ? name : fmt::format("{}[{}]", name, fmt::join(index, ", "));
}

// The elements of the inputs at the same place, which tell why a pixel differs.
std::string inputs_at(const Case& tried, const Shape& index) {
  constexpr std::int64_t most = 8;
  std::string text;
  for (const auto& [name, tensor] : tried.inputs) {
    const Shape& shape = tensor.shape();
    if (index.empty() || shape.size() < index.size()) continue;
    std::int64_t first = 0, behind = 1;
    bool inside = true;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      inside = inside && index[axis] < shape[axis];
      first = first * shape[axis] + index[axis];
    }
    for (std::size_t axis = index.size(); axis < shape.size(); ++axis) behind *= shape[axis];
    if (!inside || behind > most) continue;
    text += fmt::format("; {} holds", place_text(name, index));
    std::size_t width = size_of(tensor.dtype());
    for (std::int64_t i = 0; i < behind; ++i)
      text += " " + number_text(tensor.as<std::byte>() +
                                    static_cast<std::size_t>(first * behind + i) * width,
                                tensor.dtype());
  }
  return text;
}

Fault difference(const Case& tried, const Buffer& buffer, const Comparison& result) {
  const Mismatch& first = *result.first;
  Fault fault;
  fault.buffer = buffer.argument().name;
  fault.index = first.index;
  fault.expected = first.expected;
  fault.actual = first.actual;
  std::string allowed = first.allowed == "exactly that" ? "" : " (allowed " + first.allowed + ")";
  fault.what =
      fmt::format("{}: expected {}{}, got {} ({} of {} elements differ{})",
                  place_text(fault.buffer, first.index), first.expected, allowed, first.actual,
                  result.mismatches, result.elements, inputs_at(tried, first.index));
  return fault;
}

}  // namespace

Buffer::Buffer(const Argument& argument, Shape shape, std::int64_t offset)
    : argument_(&argument), shape_(std::move(shape)), offset_(offset) {
  bytes_ = static_cast<std::size_t>(element_count(shape_)) * size_of(argument.dtype);
  mapped_ = total();
  void* memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    fail("kernel check: no memory for {} bytes: {}", mapped_, std::strerror(errno));
  memory_ = static_cast<std::byte*>(memory);
}

Buffer::Buffer(Buffer&& other) noexcept
    : argument_(other.argument_),
      shape_(std::move(other.shape_)),
      offset_(other.offset_),
      bytes_(other.bytes_),
      memory_(std::exchange(other.memory_, nullptr)),
      mapped_(other.mapped_) {}

Buffer::~Buffer() {
  if (memory_) munmap(memory_, mapped_);
}

void Buffer::prepare(const Tensor* input) {
  for (std::size_t i = 0; i < mapped_; ++i) memory_[i] = pattern(i);
  if (input)
    std::memcpy(data(), input->data(), bytes_);
  else if (argument_->is_cleared)
    std::memset(data(), 0, bytes_);
}

std::string Buffer::guard_fault() const {
  std::size_t end = begin() + bytes_, first = mapped_, count = 0;
  for (std::size_t i = 0; i < mapped_; ++i) {
    if (i == begin()) i = end;
    if (i >= mapped_ || memory_[i] == pattern(i)) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return {};
  if (first < begin())
    return fmt::format("{}: {} guard bytes overwritten, the first {} bytes before its start",
                       argument_->name, count, begin() - first);
  return fmt::format("{}: {} guard bytes overwritten, the first {} bytes behind its end ({} bytes)",
                     argument_->name, count, first - end, bytes_);
}

std::vector<Fault> inspect(const Case& tried, const std::vector<Buffer>& buffers) {
  std::vector<Fault> faults;
  std::size_t input = 0, output = 0;
  for (const Buffer& buffer : buffers) {
    if (std::string what = buffer.guard_fault(); !what.empty()) {
      Fault fault;
      fault.what = what;
      fault.buffer = buffer.argument().name;
      faults.push_back(std::move(fault));
    }
    if (buffer.argument().is_output) {
      Comparison result = compare_with_oracle(buffer.tensor(), tried.expected[output++]);
      if (result.first) faults.push_back(difference(tried, buffer, result));
      continue;
    }
    const Tensor& given = tried.inputs[input++].second;
    if (std::memcmp(buffer.data(), given.data(), buffer.bytes()) == 0) continue;
    Fault fault;
    fault.buffer = buffer.argument().name;
    fault.what = fmt::format("{}: the input was changed", fault.buffer);
    faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace fuseline::foreign
