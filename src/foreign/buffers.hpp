// The memory of one run: every argument between guard bytes, and what the run did to them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "foreign/cases.hpp"

namespace fuseline::foreign {

inline constexpr std::size_t guard_bytes = 16384;

// Guard bytes, the argument, guard bytes; the memory is shared with forked children.
class Buffer {
 public:
  Buffer(const Argument& argument, Shape shape, std::int64_t offset);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer();

  const Argument& argument() const { return *argument_; }
  const Shape& shape() const { return shape_; }
  std::int64_t offset() const { return offset_; }
  std::size_t begin() const { return guard_bytes + static_cast<std::size_t>(offset_); }
  std::size_t bytes() const { return bytes_; }
  std::size_t total() const { return begin() + bytes_ + guard_bytes; }
  std::byte* memory() const { return memory_; }
  std::byte* data() const { return memory_ + begin(); }
  Tensor tensor() const { return Tensor(data(), argument_->dtype, shape_); }

  // Everything as it must be before a run; `input` is the content of an input.
  void prepare(const Tensor* input);
  // What overwritten guard bytes say, empty where none was.
  std::string guard_fault() const;

 private:
  const Argument* argument_;
  Shape shape_;
  std::int64_t offset_;
  std::size_t bytes_;
  std::byte* memory_ = nullptr;
  std::size_t mapped_ = 0;
};

// Something that a run did wrong; the text says what, beside buffer, index and numbers if there
// are any.
struct Fault {
  std::string sizes, bases;  // of the run: "H=3 W=5", "frame+1 mask+2 area+0"
  std::string what;
  std::string buffer;
  Shape index;
  std::string expected, actual;
};

// The faults that the memory shows after a run.
std::vector<Fault> inspect(const Case& tried, const std::vector<Buffer>& buffers);

}  // namespace fuseline::foreign
