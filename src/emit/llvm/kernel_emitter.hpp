// Loop IR -> LLVM IR: one kernel into one module.
#pragma once

#include <llvm-c/Types.h>

#include <string>

#include "emit/llvm/cpu_traits.hpp"
#include "fuse/loop_ir.hpp"

namespace fuseline::emit {

// Defines
//   void SYMBOL(void* const* buffers, const uint64_t* params,
//             int64_t block_begin, int64_t block_end, int64_t block_count)
// which runs the kernel's body for every block id in [block_begin, block_end).
void emit_kernel(LLVMModuleRef module, const loop::Kernel& kernel, const std::string& symbol,
                 const CpuTraits& cpu);

}  // namespace fuseline::emit
