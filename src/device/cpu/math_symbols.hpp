// The mathematical functions of the C library that generated code may call.
#pragma once

#include <string>

namespace fuseline::cpu {

// The address of a function of libmvec or libm (or of another library of the process), or nullptr.
void* resolve_symbol(const char* name);

// "glibc 2.36 with libmvec": which functions there are, as text for keys of the cache.
std::string math_library_identity();

}  // namespace fuseline::cpu
