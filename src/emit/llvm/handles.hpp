// Owners for the objects of the LLVM C API, and its errors as exceptions.
#pragma once

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <memory>
#include <string>

#include "base/fail.hpp"

namespace fuseline::emit {

template <class Ref, void (*dispose)(Ref)>
struct Disposer {
  using pointer = Ref;
  void operator()(Ref ref) const { dispose(ref); }
};
template <class Ref, void (*dispose)(Ref)>
using Handle = std::unique_ptr<std::remove_pointer_t<Ref>, Disposer<Ref, dispose>>;

using Context = Handle<LLVMContextRef, LLVMContextDispose>;
using Module = Handle<LLVMModuleRef, LLVMDisposeModule>;
using TargetMachine = Handle<LLVMTargetMachineRef, LLVMDisposeTargetMachine>;
using Layout = Handle<LLVMTargetDataRef, LLVMDisposeTargetData>;
using Buffer = Handle<LLVMMemoryBufferRef, LLVMDisposeMemoryBuffer>;
using PassOptions = Handle<LLVMPassBuilderOptionsRef, LLVMDisposePassBuilderOptions>;
using Message = Handle<char*, LLVMDisposeMessage>;

inline std::string text_of(char* message) {
  Message owner(message);
  return message ? message : "";
}

inline void check(LLVMErrorRef error, const char* what) {
  if (!error) return;
  char* message = LLVMGetErrorMessage(error);
  std::string text = message;
  LLVMDisposeErrorMessage(message);
  fail_internal(std::string(what) + ": " + text);
}

}  // namespace fuseline::emit
