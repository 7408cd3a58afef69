// The two functions of a kernel: the entry, which loops over blocks, and the body.
#include "emit/llvm/kernel_emitter.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "emit/llvm/body_emitter.hpp"

namespace fuseline::emit {
namespace {

// All memory of buffers is aligned to its element at least; Loop IR states what is known beyond.
class KernelEmitter {
 public:
  KernelEmitter(Ir& ir, const loop::Kernel& kernel, const std::string& symbol)
      : ir_(ir), kernel_(kernel), symbol_(symbol), analysis_(kernel) {}

  void run() {
    Value body = declare_body();
    define_body(body);
    define_entry(body);
  }

 private:
  LLVMTypeRef buffer_type(const loop::Buffer& buffer) const {
    return ir_.pointer_type(ir_.memory_type(buffer.dtype, 1));
  }

  std::vector<LLVMTypeRef> body_types() const {
    std::vector<LLVMTypeRef> types;
    for (const loop::Buffer& b : kernel_.buffers) types.push_back(buffer_type(b));
    for (const loop::Param& p : kernel_.params) types.push_back(ir_.register_type({p.dtype, 1}));
    types.push_back(ir_.integer_type(64));  // block id
    types.push_back(ir_.integer_type(64));  // block count
    return types;
  }

  LLVMTypeRef body_type() const {
    std::vector<LLVMTypeRef> types = body_types();
    return LLVMFunctionType(LLVMVoidTypeInContext(ir_.context()), types.data(),
                            static_cast<unsigned>(types.size()), 0);
  }

  void mark_function(Value function) {
    ir_.add_attribute(function, LLVMAttributeFunctionIndex, "nounwind");
    ir_.add_attribute(function, "target-cpu", ir_.cpu().cpu);
    ir_.add_attribute(function, "tune-cpu", ir_.cpu().cpu);
    ir_.add_attribute(function, "target-features", ir_.cpu().features);
    if (!ir_.cpu().x86()) return;
    // Whole registers may be used, and 64-byte arguments are passed as the vector ABI wants.
    std::string width = std::to_string(8 * ir_.cpu().vector_bytes());
    ir_.add_attribute(function, "prefer-vector-width", width);
    ir_.add_attribute(function, "min-legal-vector-width", width);
  }

  Value declare_body() {
    Value body = LLVMAddFunction(ir_.module(), (symbol_ + ".body").c_str(), body_type());
    LLVMSetLinkage(body, LLVMInternalLinkage);
    mark_function(body);
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const loop::Buffer& buffer = kernel_.buffers[i];
      unsigned index = static_cast<unsigned>(i) + 1;
      // Outputs never alias inputs. Memory that other threads change meanwhile (tickets,
      // partial results) makes no such promise.
      if (analysis_.one_way(static_cast<int>(i))) ir_.add_attribute(body, index, "noalias");
      if (!buffer.written) ir_.add_attribute(body, index, "readonly");
    }
    return body;
  }

  void define_body(Value body) {
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(ir_.context(), body, "entry");
    // Variables go to the entry block; the code starts behind it.
    LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(ir_.context(), body, "start");
    LLVMPositionBuilderAtEnd(ir_.builder(), start);
    BodyArguments arguments;
    unsigned next = 0;
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i)
      arguments.buffers.push_back(LLVMGetParam(body, next++));
    for (std::size_t i = 0; i < kernel_.params.size(); ++i)
      arguments.params.push_back(LLVMGetParam(body, next++));
    arguments.block_id = LLVMGetParam(body, next++);
    arguments.block_count = LLVMGetParam(body, next);
    BodyEmitter(ir_, kernel_, analysis_, body, std::move(arguments)).run();
    LLVMBuildRetVoid(ir_.builder());
    LLVMPositionBuilderAtEnd(ir_.builder(), entry);
    LLVMBuildBr(ir_.builder(), start);
  }

  Value declare_entry() {
    LLVMTypeRef word = ir_.integer_type(64);
    LLVMTypeRef pointers = ir_.pointer_type(ir_.pointer_type(ir_.integer_type(8)));
    LLVMTypeRef types[] = {pointers, ir_.pointer_type(word), word, word, word};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(ir_.context()), types, 5, 0);
    Value entry = LLVMAddFunction(ir_.module(), symbol_.c_str(), type);
    mark_function(entry);
    return entry;
  }

  // What the body gets: buffers and parameters out of the arrays, then block id and count.
  std::vector<Value> body_arguments(Value entry) {
    LLVMBuilderRef b = ir_.builder();
    LLVMTypeRef pointer = ir_.pointer_type(ir_.integer_type(8)), word = ir_.integer_type(64);
    std::vector<Value> values;
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      Value at = ir_.int64(static_cast<std::int64_t>(i));
      Value slot = ir_.address(pointer, LLVMGetParam(entry, 0), at, pointer);
      values.push_back(
          LLVMBuildPointerCast(b, ir_.load(pointer, slot, 8), buffer_type(kernel_.buffers[i]), ""));
    }
    for (std::size_t i = 0; i < kernel_.params.size(); ++i) {
      Value at = ir_.int64(static_cast<std::int64_t>(i));
      Value slot = ir_.address(word, LLVMGetParam(entry, 1), at, word);
      values.push_back(param_value(kernel_.params[i].dtype, ir_.load(word, slot, 8)));
    }
    return values;
  }

  Value param_value(DType dtype, Value word) {
    LLVMBuilderRef b = ir_.builder();
    LLVMTypeRef type = ir_.register_type({dtype, 1});
    if (dtype == DType::f64) return LLVMBuildBitCast(b, word, type, "");
    if (dtype == DType::f32)
      return LLVMBuildBitCast(b, LLVMBuildTrunc(b, word, ir_.integer_type(32), ""), type, "");
    return size_of(dtype) == 8 ? word : LLVMBuildTrunc(b, word, type, "");
  }

  void define_entry(Value body) {
    LLVMBuilderRef b = ir_.builder();
    Value entry = declare_entry();
    LLVMContextRef context = ir_.context();
    LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(context, entry, "entry");
    LLVMBasicBlockRef head = LLVMAppendBasicBlockInContext(context, entry, "head");
    LLVMBasicBlockRef run = LLVMAppendBasicBlockInContext(context, entry, "run");
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(context, entry, "done");
    LLVMPositionBuilderAtEnd(b, start);
    std::vector<Value> values = body_arguments(entry);
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, head);
    Value id = LLVMBuildPhi(b, ir_.integer_type(64), "block");
    Value more = LLVMBuildICmp(b, LLVMIntSLT, id, LLVMGetParam(entry, 3), "");
    LLVMBuildCondBr(b, more, run, done);
    LLVMPositionBuilderAtEnd(b, run);
    values.push_back(id);
    values.push_back(LLVMGetParam(entry, 4));
    LLVMBuildCall2(b, body_type(), body, values.data(), static_cast<unsigned>(values.size()), "");
    Value next = LLVMBuildNSWAdd(b, id, ir_.int64(1), "");
    LLVMBuildBr(b, head);
    Value incoming[] = {LLVMGetParam(entry, 2), next};
    LLVMBasicBlockRef from[] = {start, run};
    LLVMAddIncoming(id, incoming, from, 2);
    LLVMPositionBuilderAtEnd(b, done);
    LLVMBuildRetVoid(b);
  }

  Ir& ir_;
  const loop::Kernel& kernel_;
  const std::string& symbol_;
  Analysis analysis_;
};

}  // namespace

void emit_kernel(LLVMModuleRef module, const loop::Kernel& kernel, const std::string& symbol,
                 const CpuTraits& cpu) {
  require(kernel.threads == 1, "a kernel for CPUs has one thread a block");
  Ir ir(module, cpu);
  KernelEmitter(ir, kernel, symbol).run();
}

}  // namespace fuseline::emit
