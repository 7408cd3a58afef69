// libfuseline_llvm: opened when the first kernel must be compiled, not before.
#pragma once

#include <string>

#include "emit/llvm/codegen.hpp"

namespace fuseline::cpu {

// Opens the library at the first call; fails with what is missing.
emit::Codegen& codegen();

// The file of the library, its size and its time: a rebuilt generator has another identity.
std::string codegen_identity();

}  // namespace fuseline::cpu
