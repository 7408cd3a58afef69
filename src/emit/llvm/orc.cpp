// One LLJIT a process, made when first needed and never destroyed: kernels run until the end.
#include "emit/llvm/orc.hpp"

#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>

#include <mutex>

#include "emit/llvm/handles.hpp"

namespace fuseline::emit {
namespace {

LLVMOrcLLJITRef make_jit() {
  LLVMOrcLLJITRef jit = nullptr;
  check(LLVMOrcCreateLLJIT(&jit, nullptr), "ORC");
  LLVMOrcDefinitionGeneratorRef process = nullptr;
  check(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
            &process, LLVMOrcLLJITGetGlobalPrefix(jit), nullptr, nullptr),
        "ORC");
  LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), process);
  return jit;
}

}  // namespace

KernelFunction* orc_link(std::span<const std::byte> object, const std::string& symbol) {
  static LLVMOrcLLJITRef jit = make_jit();
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
      reinterpret_cast<const char*>(object.data()), object.size(), symbol.c_str());
  check(LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), buffer), "ORC");
  LLVMOrcExecutorAddress address = 0;
  check(LLVMOrcLLJITLookup(jit, &address, symbol.c_str()), "ORC");
  return reinterpret_cast<KernelFunction*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace fuseline::emit
