// Codegen: what libfuseline_llvm offers to the CPU back end, which opens it only when a kernel is
// not in the cache: loading LLVM takes longer than everything else that a warm start does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emit/llvm/cpu_traits.hpp"
#include "fuse/loop_ir.hpp"

namespace fuseline::emit {

using KernelFunction = void(void* const* buffers, const std::uint64_t* params,
                            std::int64_t block_begin, std::int64_t block_end,
                            std::int64_t block_count);

struct HostProcessor {
  std::string triple, cpu, features;  // in LLVM's terms
};

struct CompiledObject {
  std::vector<std::byte> object;  // a relocatable object file
  double generate_ms = 0;         // Loop IR -> LLVM IR
  double optimize_ms = 0;         // passes
  double assemble_ms = 0;         // LLVM IR -> object file
};

// Thread-safe; several kernels may be compiled at the same time.
class Codegen {
 public:
  virtual ~Codegen() = default;
  virtual HostProcessor host() = 0;
  // LLVM IR as it is given to the passes.
  virtual std::string text(const loop::Kernel& kernel, const CpuTraits& cpu) = 0;
  // The object defines `symbol`, which must be unique in the process.
  virtual CompiledObject compile(const loop::Kernel& kernel, const std::string& symbol,
                                 const CpuTraits& cpu) = 0;
  // Links an object into the process with ORC; the code stays until the process ends.
  virtual KernelFunction* link(std::span<const std::byte> object, const std::string& symbol) = 0;
};

inline constexpr std::uint32_t codegen_abi = 1;
// nullptr where the abi differs.
extern "C" using OpenCodegen = Codegen * (std::uint32_t abi);
inline constexpr const char* open_codegen_symbol = "fuseline_open_codegen";

}  // namespace fuseline::emit
