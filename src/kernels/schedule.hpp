// What is not pull-model: operations of the kernel group as one or several kernels of Loop IR.
#pragma once

#include <memory>
#include <vector>

#include "fuse/loop_ir.hpp"
#include "fuseline/graph.hpp"
#include "graph/target.hpp"

namespace fuseline::kernels {

// A tensor of the operation: where its elements lie, in elements.
struct Operand {
  DType dtype = DType::f32;
  Shape shape, strides;
};

struct Request {
  OpCode op = OpCode::sort_indices;
  const Attributes& attributes;
  std::vector<Operand> operands;
  Operand result;  // dense
};

// A pointer argument.
struct Argument {
  enum class Kind : std::uint8_t { operand, result, scratch };
  Kind kind = Kind::operand;
  std::size_t index = 0;
};

// Sizes are parameters: kernels of one operation, type and device are equal at all sizes.
struct Launch {
  std::shared_ptr<const loop::Kernel> kernel;
  std::vector<Argument> arguments;
  std::vector<std::uint64_t> params;
  std::int64_t blocks = 0;
};

struct Schedule {
  std::vector<Launch> launches;  // one after the other
  std::vector<std::int64_t> scratch_bytes;
};

// Nothing is launched for an empty result.
Schedule make_schedule(const Request& request, const Target& target);

}  // namespace fuseline::kernels
