// Lowering: KernelPlan -> Loop IR, and what each argument of the kernel is.
#pragma once

#include <variant>
#include <vector>

#include "fuse/loop_ir.hpp"
#include "fuse/plan.hpp"

namespace fuseline {

// A pointer argument of the kernel.
struct BufferArgument {
  enum class Kind : std::uint8_t {
    source,         // Region::sources[index]
    point,          // Region::points[index]
    result,         // Region::results[index]
    partial,        // one accumulator a block, of Region::reductions[index]
    partial_index,  // the winner's index beside it (i64)
    ticket,         // one i32, zero before and after every launch
  };
  Kind kind;
  int index = 0;
  DType dtype = DType::u8;  // of the elements
};

// A scalar argument: a size, or a uniform scalar of the Region's DAG, computed on the host.
struct ParamArgument {
  std::variant<Dim, ScalarId> value;
  DType dtype = DType::i64;
};

struct LoweredKernel {
  loop::Kernel kernel;
  std::vector<BufferArgument> buffers;
  std::vector<ParamArgument> params;
};

LoweredKernel lower(const KernelPlan& plan, std::string name);

}  // namespace fuseline
