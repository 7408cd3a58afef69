// Libraries of ours that lie beside this one.
#pragma once

#include <string>

namespace fuseline::cpu {

// Beside this library, else the bare name, for the dynamic linker to find.
std::string sibling_path(const char* name);

// The address of a symbol in such a library; nullptr with the reason where there is none.
void* sibling_symbol(const char* name, const char* symbol, std::string& reason);

}  // namespace fuseline::cpu
