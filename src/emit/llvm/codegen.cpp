// LlvmCodegen: modules, passes and machine code through the LLVM C API.
#include "emit/llvm/codegen.hpp"

#include <llvm-c/Analysis.h>
#include <llvm-c/Target.h>
#include <llvm/Config/llvm-config.h>

#include <chrono>
#include <mutex>

#include "emit/llvm/handles.hpp"
#include "emit/llvm/kernel_emitter.hpp"
#include "emit/llvm/orc.hpp"

namespace fuseline::emit {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// What Loop IR leaves to do: variables into registers, redundancy, loop-invariant code. It is
// vectorized already, so none of the loop vectorizers runs and nothing is unrolled at run time.
constexpr const char* passes =
#if LLVM_VERSION_MAJOR >= 18
#define FUSELINE_INSTCOMBINE "instcombine<no-verify-fixpoint>"
#else
#define FUSELINE_INSTCOMBINE "instcombine"
#endif
    "function(sroa,early-cse," FUSELINE_INSTCOMBINE
    ",simplifycfg,"
    "loop-mssa(loop-rotate,licm),loop(indvars,loop-unroll-full),"
    "sroa,gvn," FUSELINE_INSTCOMBINE ",loop-mssa(licm),adce,simplifycfg)";

void initialize_target() {
  static std::once_flag once;
  std::call_once(once, [] {
    require(LLVMInitializeNativeTarget() == 0 && LLVMInitializeNativeAsmPrinter() == 0,
            "this LLVM cannot generate code for this processor");
  });
}

TargetMachine make_machine(const CpuTraits& cpu) {
  initialize_target();
  LLVMTargetRef target = nullptr;
  char* message = nullptr;
  if (LLVMGetTargetFromTriple(cpu.triple.c_str(), &target, &message))
    fail_internal("LLVM: " + text_of(message));
  return TargetMachine(LLVMCreateTargetMachine(target, cpu.triple.c_str(), cpu.cpu.c_str(),
                                               cpu.features.c_str(), LLVMCodeGenLevelDefault,
                                               LLVMRelocPIC, LLVMCodeModelDefault));
}

void verify_module(LLVMModuleRef module) {
  char* message = nullptr;
  LLVMBool broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &message);
  std::string text = text_of(message);
  if (broken) fail_internal("invalid LLVM IR: " + text);
}

std::vector<std::byte> emit_object(LLVMTargetMachineRef machine, LLVMModuleRef module) {
  char* message = nullptr;
  LLVMMemoryBufferRef raw = nullptr;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &raw))
    fail_internal("LLVM code generation: " + text_of(message));
  Buffer buffer(raw);
  auto* bytes = reinterpret_cast<const std::byte*>(LLVMGetBufferStart(raw));
  return {bytes, bytes + LLVMGetBufferSize(raw)};
}

class LlvmCodegen final : public Codegen {
 public:
  HostProcessor host() override {
    return {text_of(LLVMGetDefaultTargetTriple()), text_of(LLVMGetHostCPUName()),
            text_of(LLVMGetHostCPUFeatures())};
  }

  std::string text(const loop::Kernel& kernel, const CpuTraits& cpu) override {
    Context context(LLVMContextCreate());
    Module module = generate(context.get(), make_machine(cpu).get(), kernel, kernel.name, cpu);
    return text_of(LLVMPrintModuleToString(module.get()));
  }

  CompiledObject compile(const loop::Kernel& kernel, const std::string& symbol,
                         const CpuTraits& cpu) override {
    CompiledObject result;
    auto start = Clock::now();
    Context context(LLVMContextCreate());
    TargetMachine machine = make_machine(cpu);
    Module module = generate(context.get(), machine.get(), kernel, symbol, cpu);
    result.generate_ms = milliseconds_since(start);
    start = Clock::now();
    PassOptions options(LLVMCreatePassBuilderOptions());
    check(LLVMRunPasses(module.get(), passes, machine.get(), options.get()), "LLVM passes");
    result.optimize_ms = milliseconds_since(start);
    start = Clock::now();
    result.object = emit_object(machine.get(), module.get());
    result.assemble_ms = milliseconds_since(start);
    return result;
  }

  KernelFunction* link(std::span<const std::byte> object, const std::string& symbol) override {
    initialize_target();
    return orc_link(object, symbol);
  }

 private:
  static Module generate(LLVMContextRef context, LLVMTargetMachineRef machine,
                         const loop::Kernel& kernel, const std::string& symbol,
                         const CpuTraits& cpu) {
    Module module(LLVMModuleCreateWithNameInContext(kernel.name.c_str(), context));
    LLVMSetTarget(module.get(), cpu.triple.c_str());
    Layout layout(LLVMCreateTargetDataLayout(machine));
    LLVMSetModuleDataLayout(module.get(), layout.get());
    emit_kernel(module.get(), kernel, symbol, cpu);
    verify_module(module.get());
    return module;
  }
};

}  // namespace
}  // namespace fuseline::emit

extern "C" __attribute__((visibility("default"))) fuseline::emit::Codegen* fuseline_open_codegen(
    std::uint32_t abi) {
  static fuseline::emit::LlvmCodegen codegen;
  return abi == fuseline::emit::codegen_abi ? &codegen : nullptr;
}
