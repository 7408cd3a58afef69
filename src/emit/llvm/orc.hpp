// Linking object files into the process with LLVM's ORC.
#pragma once

#include <span>
#include <string>

#include "emit/llvm/codegen.hpp"

namespace fuseline::emit {

// The address of `symbol` in `object`. What the object leaves undefined is looked up in the
// process. Thread-safe; the code stays until the process ends.
KernelFunction* orc_link(std::span<const std::byte> object, const std::string& symbol);

}  // namespace fuseline::emit
